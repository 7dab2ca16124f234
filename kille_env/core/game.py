"""Required and optional functions of a game, and their defaults.

A game is a module (or package) with a `SPEC` and some functions; the rest of the suite sees it as a
`Game`.
"""

import importlib
import re
from collections.abc import Mapping
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np

from kille_env.core import loops
from kille_env.core.jit import Kernel, bind, in_plain
from kille_env.core.provided import provided
from kille_env.core.spec import GameSpec, Rules
from kille_env.core.table import table_dtype
from kille_env.errors import KilleError, RulesError, shortened

KERNELS = (
    *("begin", "deal", "legal_actions", "apply", "observe", "information_state", "full_state"),
    *("resample", "relabel"),
)
LOOPS: dict[str, Any] = {
    "begin": loops.begin_tables,
    "open": loops.open_tables,
    "deal": loops.deal_tables,
    "show": loops.show_tables,
    "step": loops.step_tables,
    "apply": loops.apply_tables,
    "masks_of_all": loops.masks_of_all,
    "resample": loops.resample_tables,
    "relabel": loops.relabel_tables,
}
"""The core's loops, by the name of a game's own copy."""

VIEWS = {
    "observe": "observe",
    "mask": "legal_actions",
    "information_state": "information_state",
    "full_state": "full_state",
}
"""Loops that write a view of one seat of each table, and the game's kernel for one table."""


TEXTS = ("describe", "narrate", "view", "change", "choice", "describe_rules")
"""Methods of a game that `Game.texts` has."""


class Game:
    """A game: its facts, its kernels as loops over many tables, and its `texts`.

    A game's module defines `SPEC` and these kernels. `table` is a record of `SPEC.table`, `rules`
    one of `SPEC.rules_dtype`; an `out` array is filled completely.

        begin(table, rules, dealer): Set up a new match, to where the first cards are to be dealt;
            dealer -1 is random.
        deal(table, rules): Deal one hand: to a decision, to the next deal or to the match's end.
        legal_actions(table, rules, seat, out): Write 1 for each action that `seat` may take, as far
            as it knows, else 0; int8 [A].
        apply(table, rules, action): Play a legal action of the seat to act.
        observe(table, rules, seat, out): Write the compact observation of a seat, uint8 [F].
        information_state(table, rules, seat, out): Write the knowledge of a seat, with perfect
            recall of the deal, uint8 [F].
        full_state(table, rules, seat, out): Write everything, seen from a seat: for critics, never
            for a player; uint8 [F].
        resample(table, rules, seat, cards): Draw a determinization, each one that `seat` cannot
            tell from this table equally likely. Write into `cards`, int8 [pack], the card that
            lies there where card c lies here; a permutation, and c on entry. Random numbers come
            from the table's generator. The cards stay where they are (`relabel` is called next);
            other secrets (which seat is asked) are settled in the table. Never called between
            hands.
        relabel(table, rules, cards): Put `cards[c]` everywhere in the table where card c is.

    It also defines, in Python, with one table and resolved `Rules`:

        view(table, rules, seat, who): Return the table as a seat sees it, a `View`; `who` are the
            names of the seats.

    It may define more functions by the names of the methods here and of
    `kille_env.words.texts.Texts`, with their arguments (and `who` for `names`); each has a default:
    `narrate`, `choice`, `result`, `set_up`, `chance`, `dealt_again`. Two kernels are for exact
    trees alone:

        passed_over(table, rules, card): Return whether a card, if it were drawn now, would only be
            laid aside for the next one, and nobody decides after that one; else no card is.
        outcome(table): Return the part of a hand's end that decides how the match continues, as a
            number from 0.

    Attributes:
        module: The module.
        spec: Its facts.
        definitions: Its names with their values.
        seed, begin, open, deal, show, step, apply, observe, mask, masks_of_all, information_state,
            full_state, resample, relabel: The loops of `kille_env.core.loops`, each made when it
            is first asked for.
    """

    def __init__(self, module: ModuleType) -> None:
        """Take the module apart; nothing is compiled before it is called."""
        self.definitions = vars(module)
        if missing := [name for name in ("SPEC", *KERNELS, "view") if name not in self.definitions]:
            raise KilleError(
                f"{module.__name__} is not a game: it lacks {', '.join(missing)}; see "
                "docs/add_a_game.md"
            )
        self.module = module
        self.spec: GameSpec = self.definitions["SPEC"]
        _check_record(self.spec)
        functions: dict[str, Any] = {kernel: self.definitions[kernel] for kernel in KERNELS}
        # An array instead of a function: a step reads one byte for it.
        secret = np.isin(np.arange(self.spec.num_actions), np.array(self.spec.secret_actions))
        functions["SECRET_ACTIONS"] = secret
        functions["_deal"] = bind(loops._deal, functions)
        functions["_open"] = bind(loops._open, functions)
        functions["_show"] = bind(loops._show, functions)
        functions["_step"] = bind(loops._step, functions)
        self._functions = functions
        self.seed = loops.seed_tables

    def __getattr__(self, name: str) -> Any:
        """Make a loop when it is first asked for: facts and texts need no compiler."""
        if name in TEXTS:
            return getattr(self.texts, name)
        made = self.kernel(name)
        if not in_plain():
            made = getattr(made, "compiled", made)  # a step of one table should take no detour
        setattr(self, name, made)
        return made

    @property
    def is_compiled(self) -> bool:
        """Whether steps are compiled in this process already."""
        return not isinstance(vars(self).get("step", Kernel), (Kernel, type))

    def go_on_compiled(self) -> None:
        """Replace loops that have run in plain Python by their compiled forms."""
        for name, made in list(vars(self).items()):
            if isinstance(made, Kernel):
                setattr(self, name, made.compiled)
                made.loaded = True

    @cached_property
    def texts(self) -> Any:
        """The game's texts and views, `kille_env.words.texts.Texts`."""
        return provided("texts")(self)

    @property
    def step_of_one(self) -> Any:
        """The kernel that steps one table, `loops._step`."""
        return self._functions["_step"]

    def kernel(self, name: str) -> Any:
        """Return a loop as other kernels call it, a new one each time."""
        if name in VIEWS:
            return bind(loops.view_tables, {"view": self.definitions[VIEWS[name]]})
        if name in LOOPS:
            return bind(LOOPS[name], self._functions)
        raise AttributeError(f"a game has no {name!r}", name=name, obj=self)

    def result(self, table: np.record, rules: Rules) -> dict[str, Any]:
        """Return the result of the hand that has just ended, for records; by default the units."""
        if "result" in self.definitions:
            return self.definitions["result"](table, rules)
        return {"units": table["reward"][: int(table["num_players"])].tolist()}

    def action_text(self, table: np.record, action: int) -> str:
        """Return the text of an action, with the cards of the seat to act for "#1", "#2" and on.

        Its cards are numbered from the lowest up.
        """
        text, seat = self.spec.actions[action], int(table["seat"])
        if "#" not in text or seat < 0:
            return text
        pack, hand = self.spec.pack, int(table["hand"][seat])
        codes = [pack.code(card) for card in range(pack.size) if hand >> card & 1]
        return re.sub(r"#(\d)", lambda place: codes[int(place[1]) - 1], text)

    def set_up(self, table: np.record, rules: Rules, start: Mapping[str, Any]) -> None:
        """Put a match that has just begun where `start` says; by default only `{}` is possible."""
        if "set_up" in self.definitions:
            self.definitions["set_up"](table, rules, start)
        elif start:
            raise RulesError(
                f"start is {shortened(start)}; {self.spec.name} has one beginning, expected {{}}"
            )

    def check_start(self, rules: Rules, num_players: int, start: Mapping[str, Any] | None) -> None:
        """Refuse an impossible start before anything changes, by `set_up` at a table apart."""
        if not isinstance(start, (Mapping, type(None))):
            given = shortened(start)
            raise RulesError(f"start is {given}; expected how a match stands, by name, or None")
        if start:
            # Tried at a table of its own, so that a refused start leaves the real ones as they
            # were.
            table = np.zeros(1, dtype=self.spec.table)
            table["num_players"] = num_players
            self.set_up(table[0], rules, start)

    def chance(self, table: np.record, rules: Rules) -> dict[str, Any]:
        """Return the decisions of chance besides cards, by the names that `set_up` takes.

        By default the cards decide everything.
        """
        return self.definitions["chance"](table, rules) if "chance" in self.definitions else {}

    def dealt_again(self, tables: np.ndarray, times: int) -> np.ndarray:
        """Return tables of a deal [N], before it or at decisions, as if dealt so often before."""
        return self.definitions["dealt_again"](tables, times) if times else tables


def _check_record(spec: GameSpec) -> None:
    """Refuse a spec that the record of a table does not fit, before a kernel relies on it."""
    own = spec.table.fields or {}
    expected = table_dtype(spec.max_players, spec.pack.size, ()).fields or {}
    for name, (dtype, *_) in expected.items():
        if name not in own or own[name][0] != dtype:
            has = own[name][0] if name in own else "no such field"
            raise KilleError(
                f"{spec.name}: {name!r} of the table is {has}, expected {dtype} for "
                f"{spec.max_players} seats and {spec.pack.size} cards; make the dtype with "
                "table_dtype(SPEC.max_players, SPEC.pack.size, ...)"
            )
    # Searches and the GPU copy records as words of eight bytes.
    if spec.table.itemsize % 8 or not spec.table.isalignedstruct:
        raise KilleError(f"{spec.name}: the table is not aligned; make its dtype with table_dtype")
    for name, number in (
        ("secret_actions", spec.num_actions),
        ("covered_actions", spec.num_actions),
        ("secret_phases", len(spec.phases)),
    ):
        wrong = [one for one in getattr(spec, name) if not 0 <= one < number]
        if wrong:
            raise KilleError(f"{spec.name}: {name} are 0 to {number - 1}, got {wrong[0]}")


@cache
def game_of(module: str) -> Game:
    """Return the game of a module by its name; the same one each time, so it is compiled once."""
    return Game(importlib.import_module(module))
