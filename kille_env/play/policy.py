"""Policies: the protocol, checks of their answers, and drawing an action from probabilities.

A policy answers decisions: `decide(decisions)` returns probabilities of actions. Most answer by
observation and mask alone; these derive from `ObservationPolicy`, and an object of yours with
`probabilities(observation, mask)` is wrapped as one by `as_decider`, where it enters.
"""

import copy
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from kille_env.core.floats import Reading
from kille_env.core.jit import kernel
from kille_env.core.spec import Rules, RuleSets
from kille_env.errors import PolicyError, shortened
from kille_env.play.by_rules import PolicyByRules, told
from kille_env.play.kernels import PolicyKernel, choices
from kille_env.registry import Table, make_batch, policy_lookup, spec

if TYPE_CHECKING:
    from kille_env.play.decisions import Decisions

SUM_TOLERANCE = 1e-6
AGREEMENT = 1e-4
"""Difference of two probabilities up to which two forms of a policy give the same answer."""
SEED, TABLES, ROUNDS = 71, 16, 12
"""Seed, tables and steps of the uniform play that `_check_forms` samples decisions from."""
GUARD = 4096
"""Numbers laid around those of a kernel to notice one that reads beyond them."""


class Policy(Protocol):
    """Probabilities of actions for a batch of decisions, each seen from the seat to act.

    A policy may have more attributes:

    - `at_table(game, num_players)`, a method that returns the policy that plays at a table;
    - `tables`, a tuple of `kille_env.Table`: it was made for these and is refused at all others;
    - `remembers`, true if it needs the history of the deal (`Decisions.history`, `Decisions.weigh`
      and `Decisions.draw_with_past`);
    - `observe_rules`, true if it reads the rules behind each observation, as environments with this
      option show them;
    - `keyless`, true if its answers follow from the seat's view and from nothing random.

    Attributes:
        name: Its name in results and reports.
    """

    name: str

    def decide(self, decisions: "Decisions") -> np.ndarray:
        """Return the probability of each action, [M, A] float64."""
        ...


class ObservationPolicy:
    """Base of a policy that answers by observation and mask alone.

    Attributes:
        name: Its name in results and reports.
        kernel: The same policy in compiled form, or None.
    """

    name = ""
    kernel: PolicyKernel | None = None

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the probability of each action, [N, A] float64."""
        raise NotImplementedError

    def decide(self, decisions: "Decisions") -> np.ndarray:
        """Return the probability of each action, [M, A]; see `Policy`."""
        return self.probabilities(decisions.observation, decisions.mask)


class Observing(ObservationPolicy):
    """An object with `probabilities(observation, mask)` as a policy; other attributes are its."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.name = policy, name_of(policy)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the probabilities of the object."""
        return self.policy.probabilities(observation, mask)

    @property
    def kernel(self) -> PolicyKernel | None:  # type: ignore[override]
        """Return the object's kernel."""
        return getattr(self.policy, "kernel", None)

    def __getattr__(self, name: str) -> Any:
        if name == "policy" or name.startswith("__"):  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.policy, name)


class ToldRules(ObservationPolicy):
    """A policy that reads the rules behind each observation, told them where tables show none."""

    def __init__(self, policy: Any, table: Table | None = None) -> None:
        """Take a policy, and the table whose rules it is told; None where tables have their own."""
        self.policy, self.name, self.told_at = policy, name_of(policy), table
        self.tables = tables_of(policy)
        self._features = None if table is None else spec(table.game).rules_features(table.rules)[0]

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the policy's answers at tables of one rule set."""
        if self._features is None:
            raise PolicyError(
                f"{self.name!r} reads the rules of each table, which observations alone do not "
                "say: ask it by decide(decisions), or seat it at a table of one rule set"
            )
        return self.policy.probabilities(told(observation, self._features), mask)

    def decide(self, decisions: "Decisions") -> np.ndarray:
        """Return the policy's answers at tables of any rules."""
        shown = told(decisions.observation, decisions.rules_features())
        return self.policy.probabilities(shown, decisions.mask)


class Model(Protocol):
    """A model of Stable-Baselines3, as far as a type can say without importing it."""

    policy: Any

    def predict(self, observation: Any, *args: Any, **kwargs: Any) -> Any:
        """Return actions."""
        ...


PlayerLike = Policy | ObservationPolicy | Callable[..., Any] | Model | str | Path
"""Anything that `resolve` makes a policy of; a torch module is among the callables."""


def answers(thing: Any) -> bool:
    """Return whether an object answers decisions or observations as it is."""
    return any(callable(getattr(thing, way, None)) for way in ("probabilities", "decide"))


def as_decider(policy: Any) -> Policy:
    """Return an object that answers as a `Policy`: itself, or wrapped if it has `probabilities`."""
    if isinstance(policy, ObservationPolicy):
        return cast(Policy, policy)
    if callable(getattr(policy, "decide", None)):
        return cast(Policy, policy)
    if callable(getattr(policy, "probabilities", None)):
        return cast(Policy, Observing(policy))
    raise PolicyError(
        f"{shortened(policy)} is no policy; expected decide(decisions) or "
        "probabilities(observation, mask)"
    )


def derived_from_kernel(probabilities: Any) -> Any:
    """Mark a method that computes its answers with the kernel: the two need no comparison."""
    probabilities.derived_from_kernel = True
    return probabilities


@kernel
def _choose_uniformly(_seen, mask, _numbers, uniform):
    """Add up shares as `pick_actions` does, so that it draws the same action to the last bit."""
    legal, total = 0, 0.0
    for action in range(mask.shape[0]):
        legal += mask[action] != 0
    share = 1.0 / legal
    for _ in range(legal):
        total += share
    drawn, reached, first = uniform * total, 0.0, -1
    for action in range(mask.shape[0]):
        if mask[action] != 0:
            first = action if first < 0 else first
            reached += share
            if reached > drawn:
                return action
    return first  # the product was rounded up to the whole sum


class UniformPolicy(ObservationPolicy):
    """Play every legal action with the same probability."""

    name = "uniform"
    kernel = PolicyKernel(_choose_uniformly)

    @derived_from_kernel
    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return equal shares for the legal actions, [N, A] float64."""
        legal = (mask != 0).astype(np.float64)
        counts = legal.sum(axis=1, keepdims=True)
        if len(legal) and counts.min() == 0:
            raise PolicyError(
                f"row {int(counts.argmin())} of the mask has no legal action; "
                "ask only the seat to act"
            )
        return legal / counts


def with_uniform(probabilities: np.ndarray, mask: np.ndarray, share: float) -> np.ndarray:
    """Return probabilities [N, A] of which a share, 0 to 1, is uniform over the legal actions."""
    if share == 0.0:
        return probabilities
    return (1.0 - share) * probabilities + share * UniformPolicy().probabilities(mask, mask)


def resolve(
    player: PlayerLike, game: str, num_players: int, rules: Rules, *, trust: bool = False
) -> Policy:
    """Return a policy for a table, or for tables with rules of their own."""
    if isinstance(rules, RuleSets):
        find = partial(resolve, player, game, num_players, trust=trust)
        return _by_rules(player, rules, find)
    if isinstance(player, str) and player == "uniform":
        return cast(Policy, UniformPolicy())
    if answers(player) and not isinstance(player, type):
        return at_table(player, game, num_players, rules)
    look_up = policy_lookup()
    if look_up is None:
        raise PolicyError(
            f"no package that finds {str(player)!r} is installed (kille_agents does); without it "
            'there is "uniform", or pass an object with probabilities(observation, mask)'
        )
    return cast(Policy, look_up(player, game, num_players, rules, trust=trust))


def at_table(player: Any, game: str, num_players: int, rules: Rules) -> Policy:
    """Return the policy that an object plays with at a table.

    Every policy enters here: no kernel then reads an observation that it was not made for, no
    policy plays at a table of another kind unless it has an attribute `transferred` that is true,
    and one whose forms contradict each other is refused.
    """
    if isinstance(rules, RuleSets):
        return _by_rules(player, rules, partial(at_table, player, game, num_players))
    if isinstance(player, PolicyByRules):
        player = player.policy_of(rules)
    moved, tables = getattr(player, "transferred", False), tables_of(player)
    table = Table(game, num_players, rules, spec(game).version)
    if found := differences(tables, table):
        raise misfit(name_of(player), tables, found, tables[0].game == game)
    if isinstance(player, ToldRules):  # of another table, whose rules it was told
        player = player.policy
    settle = getattr(player, "at_table", None)
    policy = as_decider(settle(game, num_players) if callable(settle) else player)
    if getattr(policy, "observe_rules", False):
        policy = ToldRules(policy, table)
    if (compiled := kernel_of(policy)) is not None:
        made = _said_tables(policy)
        if made and (game, num_players) not in {(one.game, one.num_players) for one in made}:
            wrong = [f"a kernel cannot play {game} with {num_players}"]
            raise misfit(name_of(policy), made, wrong, False)
        _check_once(policy, compiled, table)
    return let_transfer(policy) if moved else policy


def _by_rules(player: Any, rules: RuleSets, find: Callable[[Rules], Policy]) -> Policy:
    """Return the policy of tables with rules of their own; `find` returns that of one rule set."""
    if isinstance(player, PolicyByRules) and player.rules == rules:
        return player
    first = find(rules.sets[0])
    tables = tables_of(first)
    # An object that was made for no table, or for any rules, is the same at all of them. A class,
    # or a name such as "module:Class", makes a policy of the rules of each.
    makes = isinstance(player, (PolicyByRules, str, Path, type)) and player != "uniform"
    if not any(table.rules.is_one for table in tables) and (tables or not makes):
        if tables and (found := differences(tables, replace(tables[0], rules=rules))):
            raise misfit(name_of(first), tables, found, True)
        return ToldRules(first.policy) if isinstance(first, ToldRules) else first
    policies = [first, *(find(one) for one in rules.sets[1:])]
    return PolicyByRules(name_of(first), policies, rules)


def kernel_of(policy: Any) -> PolicyKernel | None:
    """Return the compiled form of a policy, or None."""
    compiled = getattr(policy, "kernel", None)
    if compiled is not None and not isinstance(compiled, PolicyKernel):
        raise PolicyError(
            f"the kernel of {name_of(policy)!r} is {shortened(compiled)}, expected "
            "kille_env.play.kernels.PolicyKernel(choose, numbers, deterministic=...), or None"
        )
    return compiled


def deterministic_kernel(policy: Any) -> PolicyKernel | None:
    """Return the compiled form of a deterministic policy, or None."""
    compiled = kernel_of(policy)
    return compiled if compiled is not None and compiled.deterministic else None


_agreed: "weakref.WeakKeyDictionary[Any, set[Any]]" = weakref.WeakKeyDictionary()
"""By policy, the kernels and tables at which its forms were found to agree."""


def _check_once(policy: Any, compiled: PolicyKernel, table: Table) -> None:
    """Check the forms of a policy at a table, unless that was done or its kernel defines them."""
    if not isinstance(policy, ObservationPolicy):
        raise PolicyError(
            f"{name_of(policy)!r} has a kernel, which sees what a seat observes and no more, and "
            "decide(decisions), which sees more: give it probabilities(observation, mask) instead"
        )
    if getattr(type(policy).probabilities, "derived_from_kernel", False):
        return
    # A policy that is changed has another key, and is checked again.
    key = table, compiled.choose, compiled.numbers.tobytes(), compiled.deterministic
    try:
        seen = _agreed.setdefault(policy, set())
    except TypeError:  # it cannot be referenced weakly
        seen = set()
    if key not in seen:
        _check_forms(policy, compiled, table)
        seen.add(key)


def _check_forms(policy: ObservationPolicy, compiled: PolicyKernel, table: Table) -> None:
    """Refuse a policy with a kernel that contradicts its probabilities in uniform play."""
    name, (seen, mask) = policy.name, _sampled(table)
    found = policy.probabilities(seen.copy(), mask.copy())
    check_probabilities(name, found, mask)
    rows = np.arange(len(mask))
    # Policies that mix rows of a batch, by batch normalization say, answer differently alone.
    for row in rows[:: len(rows) // 16 or 1]:
        one = slice(row, row + 1)
        alone = np.asarray(policy.probabilities(seen[one].copy(), mask[one].copy()))
        if np.abs(alone - found[one]).max() > AGREEMENT:
            raise _contradiction(name, "probabilities of one decision alone and in a batch")
    if compiled.deterministic and (found.max(axis=1) < 1.0 - AGREEMENT).any():
        raise _contradiction(name, "a kernel that is deterministic and probabilities that mix")
    cumulative = np.cumsum(found, axis=1, dtype=np.float64)
    beyond = PolicyError(
        f"the kernel of {name!r} reads beyond its {len(compiled.numbers)} numbers: give it all "
        "that it reads"
    )
    for uniforms in np.random.default_rng(SEED).random((3, len(mask))):
        try:  # between other numbers its choices change, where Numba checks no bounds
            actions, other = (
                choices(
                    name, compiled.choose, _between(compiled.numbers, fill), seen, mask, uniforms
                )
                for fill in (0, 1)
            )
        except IndexError:
            raise beyond from None
        if (actions != other).any():
            raise beyond
        upper, share = cumulative[rows, actions], found[rows, actions]
        drawn = uniforms * cumulative[:, -1]
        fits = (share > 0) & (drawn >= upper - share - AGREEMENT) & (drawn <= upper + AGREEMENT)
        if not fits.all():
            row = int((~fits).argmax())
            raise _contradiction(
                name,
                f"a kernel that chooses action {actions[row]} and probabilities that say "
                f"{shortened(np.round(found[row], 4).tolist())} of the same decision",
            )


def _contradiction(name: str, forms: str) -> PolicyError:
    return PolicyError(
        f"policy {name!r} contradicts itself: it has {forms}. All its forms must give the same "
        "answers; mend them, or leave its kernel out (kernel = None)"
    )


def _between(numbers: np.ndarray, fill: int) -> np.ndarray:
    """Return a copy of the numbers of a kernel that lies between other numbers."""
    padded = np.full(len(numbers) + 2 * GUARD, fill, dtype=np.int64)
    inside = padded[GUARD:-GUARD]
    inside[:] = numbers
    return inside


def _sampled(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return observations [N, F] and masks [N, A] of decisions of uniform play at a table."""
    batch = make_batch(table.game, TABLES, table.num_players, rules=table.rules, seed=SEED)
    batch.reset()
    seen, masks, rng = [], [], np.random.default_rng(SEED)
    for _ in range(ROUNDS):
        acting = batch.seat >= 0
        seen.append(batch.observation[acting])
        masks.append(batch.mask[acting])
        batch.step(sample_actions(UniformPolicy().probabilities(batch.mask, batch.mask), rng))
    return np.concatenate(seen), np.concatenate(masks)


def let_transfer(player: Any) -> Any:
    """Return a policy that may play at other tables than those that it was made for."""
    # A copy: the caller's own object stays bound to its tables.
    moved = copy.copy(player)
    moved.transferred = True
    return moved


def tables_of(player: Any) -> tuple[Table, ...]:
    """Return the tables that a policy was made for; empty if it may play at any."""
    return () if getattr(player, "transferred", False) else _said_tables(player)


def tables_inside(policy: Any) -> tuple[Table, ...]:
    """Return the tables for which a wrapper may ask a policy, which it cannot tell other rules."""
    told_at = getattr(policy, "told_at", None)
    return tables_of(policy) if told_at is None else (told_at,)


def _said_tables(player: Any) -> tuple[Table, ...]:
    tables = getattr(player, "tables", ())
    fits = isinstance(tables, tuple) and all(isinstance(one, Table) for one in tables)
    return tables if fits else ()


def differences(tables: Sequence[Table], table: Table) -> list[str]:
    """Return the differences of a table from the nearest of the tables of a policy, as text."""
    if table in tables:
        return []
    return min((one.differences(table) for one in tables), key=len, default=[])


def misfit(name: str, tables: Sequence[Table], found: Sequence[str], movable: bool) -> PolicyError:
    """Return the error for a policy of other tables; `movable` offers a transfer."""
    others = f" (and {len(tables) - 1} more)" if len(tables) > 1 else ""
    hint = (
        ". To measure it here, if its observations fit: transfer=True, on the command line "
        "--transfer"
    )
    return PolicyError(
        f"{name} does not fit this table: {'; '.join(found)}. It was made for {tables[0]}{others}"
        f"{hint if movable else ''}"
    )


def name_of(player: Any) -> str:
    """Return the name of a policy in errors: its own, or that of its class."""
    return str(getattr(player, "name", "") or type(player).__name__)


def decide(policy: Policy, decisions: "Decisions") -> np.ndarray:
    """Return the checked answers of a policy to decisions, [M, A]."""
    legal = decisions.mask.copy()  # the policy may write into the mask
    probabilities = policy.decide(decisions)
    check_probabilities(name_of(policy), probabilities, legal)
    return probabilities


def check_shapes(
    name: str, observation: np.ndarray, mask: np.ndarray, width: int, actions: int
) -> None:
    """Refuse observations [N, F] and masks [N, A] of another width or number of actions."""
    expected = ((len(observation), width), (len(observation), actions))
    if observation.shape != expected[0] or mask.shape != expected[1]:
        raise PolicyError(
            f"policy {name!r} reads observations {expected[0]} and masks {expected[1]}, "
            f"got {observation.shape} and {mask.shape}; it was made for another table"
        )


def check_probabilities(name: str, probabilities: np.ndarray, mask: np.ndarray) -> None:
    """Refuse an answer to masks [N, A] that is no distribution over the legal actions."""
    if not hasattr(probabilities, "shape") or np.asarray(probabilities).dtype.kind not in "fiub":
        raise PolicyError(
            f"policy {name!r} returned {shortened(probabilities)}, expected probabilities as an "
            f"array of numbers {mask.shape}"
        )
    if probabilities.shape != mask.shape:
        raise PolicyError(
            f"policy {name!r} returned probabilities of shape {probabilities.shape}, "
            f"expected {mask.shape}"
        )
    # The usual case first, in few passes; only a wrong answer is looked at more closely.
    fits = np.where(mask, probabilities >= 0, probabilities == 0).all()
    if fits and (np.abs(probabilities.sum(axis=1) - 1.0) <= SUM_TOLERANCE).all():
        return
    wrong = {
        "a value that is no probability": ~(probabilities >= 0),  # NaN is not >= 0 either
        "an illegal action": (probabilities > 0) & (mask == 0),
        "a sum other than 1": ~(np.abs(probabilities.sum(axis=1) - 1.0) <= SUM_TOLERANCE),
    }
    for what, where in wrong.items():
        if where.any():
            row = int(np.argwhere(where)[0, 0])
            found = float(probabilities[row].sum())
            if where.ndim == 2:
                action = int(where[row].argmax())
                found = f"{float(probabilities[row, action]):.6g} for action {action}"
            raise PolicyError(
                f"policy {name!r} returned {what} in row {row}: {found}; expected probabilities "
                "[N, A] that are 0 where the mask is 0 and sum to 1 in each row"
            )


def as_numbers(name: str, returned: Any, kind: str) -> np.ndarray:
    """Return an array, or a tensor of torch, as float64; errors name it by `kind`."""
    try:
        if hasattr(returned, "detach"):
            returned = returned.detach().cpu().double().numpy()
        if np.asarray(returned).dtype.kind == "c":
            raise TypeError("they are complex")
        return np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(
            f"policy {name!r} returned a {type(returned).__name__} that is no array of numbers "
            f"({error}); expected {kind} [N, A]"
        ) from None


def masked_softmax(name: str, logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return the softmax of logits over the legal actions, [N, A] float64."""
    values = _of_legal_actions(name, "logit", logits, mask)
    np.exp(values - values.max(axis=1, keepdims=True), out=values)
    return values / values.sum(axis=1, keepdims=True)


def masked_best(name: str, values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return 1 for the legal action of the highest value, the first of equals, [N, A] float64."""
    best = _of_legal_actions(name, "value", values, mask).argmax(axis=1)
    return np.eye(mask.shape[1])[best]


def _of_legal_actions(name: str, what: str, values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    legal = np.where(mask != 0, values.astype(np.float64), -np.inf)
    if not np.isfinite(legal.max(axis=1)).all():
        raise PolicyError(
            f"policy {name!r} returned non-finite {what}s for every legal action of a decision"
        )
    return legal


def read(name: str, observation: np.ndarray, reading: Reading | None) -> np.ndarray:
    """Return observations [N, F] as a network reads them, or refuse if there is no reading."""
    if reading is None:
        raise PolicyError(
            f"policy {name!r} reads features in 0 to 1, and their scale follows from the table: "
            "say which one with at_table(game, num_players)"
        )
    return reading(observation)


def pick_actions(probabilities: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Return the actions that random numbers in [0, 1) select, [N] int64."""
    cumulative = np.cumsum(probabilities, axis=1, dtype=np.float64)
    drawn = uniforms * cumulative[:, -1]
    actions = (cumulative <= drawn[:, None]).sum(axis=1)
    beyond = actions == probabilities.shape[1]  # the product was rounded up to the whole sum
    if beyond.any():
        actions[beyond] = probabilities[beyond].argmax(axis=1)
    return actions


def sample_actions(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw an action for each decision, [N] int64, with a generator of NumPy."""
    return pick_actions(probabilities, rng.random(len(probabilities)))
