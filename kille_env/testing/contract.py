"""The contract that every game keeps, as checks that play it. No test framework is needed.

Each check raises an `AssertionError` that says which promise is broken, and where. A game's own
rules are for its own tests.
"""

import json
import pickle
from collections.abc import Callable, Sequence

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import EPISODES, GameSpec, Part, Rules
from kille_env.core.table import DEAL, OVER, table_dtype
from kille_env.errors import IllegalActionError, KilleError, RulesError
from kille_env.play.policy import pick_actions, sample_actions
from kille_env.registry import make_batch
from kille_env.registry import spec as spec_of
from kille_env.testing.determinization import check_determinizations
from kille_env.testing.guards import check_guards
from kille_env.testing.secrets import check_recall, check_secrets
from kille_env.testing.views import check_views

TABLES = 8


def check_game(
    name: str, *, players: Sequence[int] | None = None, decisions: int = 1000, seed: int = 0
) -> None:
    """Play a registered game in every preset and episode, and check the contract of games.

    - The spec is sound: layouts cover their vectors, switches resolve, numbers have their ranges.
    - Kernels write into the arrays that they are given, and nowhere else.
    - Whoever is to act has a legal action; of the others at most one (whose turn it publicly is)
      has a mask that is not zero. An illegal action is refused and changes nothing.
    - Observations, information states and full states stay within their bounds; rewards, and
      their sum for each seat over a match, within `reward_range`; they sum to zero over a match
      where the spec says so, but for what a split leaves on the table (`left_on_table`). A hand
      ends within `max_decisions`, and single deals end.
    - A seed fixes everything, whatever the number of tables; clones and pickled tables play on
      identically.
    - Stepping is the same as applying and dealing by hand, and the same as dealing the same cards
      from a given pack.
    - Observation and mask show nothing that the information state does not. Two games that differ
      in cards that a seat does not know (by `describe`) look the same to it, and what it knows is
      in its information state. Information states have perfect recall of the hand.
    - A determinization for a seat shows it the same, could have come about by the same play,
      depends on its key alone, and can be played to its end.
    - A view has one place for each card, and the moves of a change lead from place to place and
      from face to same face. Neither tells a seat what its information state does not.

    Args:
        name: The game.
        players: Numbers of seats; None is the fewest, the default and the most. Where a preset has
            too few cards for one, as many as can sit.
        decisions: How many to play in each check, preset, episode and number of seats.
        seed: Seed of everything that is random here.

    Raises:
        AssertionError: A promise is broken.
        KilleError: Python runs without assertions (-O).
    """
    if not __debug__:
        raise KilleError("the checks are assertions: run Python without -O")
    spec = spec_of(name)
    check_spec(spec)
    numbers = players or sorted({spec.min_players, spec.default_players, spec.max_players})
    for preset in spec.presets:
        for episode in EPISODES:
            rules = spec.resolve(preset, episode=episode)
            for number in sorted({min(seats, spec.most_players(rules)) for seats in numbers}):
                _run(CHECKS, name, number, rules, decisions, seed)
    # One switch at a time, and fewer checks: the combinations are too many.
    some = (check_play, check_determinizations)
    for switch in spec.switches:
        for value in switch.values:
            rules = spec.resolve({switch.name: value})
            _run(some, name, spec.default_players, rules, max(1, decisions // 20), seed)


def _run(
    checks: Sequence[Callable[..., None]],
    name: str,
    players: int,
    rules: Rules,
    decisions: int,
    seed: int,
) -> None:
    """Run checks; a failure says at which table it happened."""
    for check in checks:
        try:
            check(name, players, rules, decisions, seed)
        except AssertionError as error:
            title = check.__name__.removeprefix("check_")
            where = f"{name}, {players} seats, rules {rules.as_dict()}"
            raise AssertionError(f"{title}: {error} ({where}, seed {seed})") from error


# The spec


def check_spec(spec: GameSpec) -> None:
    """Check the spec, without playing."""
    assert spec.name.isidentifier() and spec.name.isascii(), (
        f"the name {spec.name!r} is not letters, digits and underscores"
    )
    assert 2 <= spec.min_players <= spec.default_players <= spec.max_players, (
        "min_players, default_players and max_players do not follow one another"
    )
    assert spec.actions and len(set(spec.actions)) == len(spec.actions), (
        f"the texts of the actions are not different ones: {spec.actions}"
    )
    assert spec.phases[:2] == ("deal", "over") and len(spec.phases) > 2, (
        f"the phases begin with 'deal' and 'over' and go on, not {spec.phases}"
    )
    common = table_dtype(spec.max_players, spec.pack.size, [])
    missing = set(common.names or ()) - set(spec.table.names or ())
    assert not missing, f"the table lacks {sorted(missing)}: make its dtype with table_dtype"
    for players in range(spec.min_players, spec.max_players + 1):
        for kind in ("observation", "information_state", "full_state"):
            check_layout(f"{kind} at {players} seats", getattr(spec, kind)(players))
    for preset in spec.presets:
        rules = spec.resolve(preset)
        most = spec.most_players(rules)
        assert most >= spec.min_players, f"with preset {preset} at most {most} can sit"
        for players in (spec.min_players, most):
            low, high = spec.reward_range(rules, players)
            assert np.isfinite([low, high]).all() and low < high, (
                f"reward_range at {players} seats is {low} to {high}"
            )
            most = spec.max_decisions(rules, players)
            assert most >= 1, f"max_decisions at {players} seats is {most}"
    check_rules(spec)


def check_layout(name: str, parts: tuple[Part, ...]) -> None:
    """Check that parts lie one behind the other, with different names and bytes for values."""
    names = {part.name for part in parts}
    assert len(names) == len(parts), f"two parts of the {name} have the same name"
    offset = 0
    for part in parts:
        what = f"part {part.name!r} of the {name}"
        assert part.offset == offset and part.size > 0, (
            f"{what} lies at {part.offset}, expected {offset}"
        )
        assert part.meaning and 1 <= part.high <= 255, (
            f"{what} has no meaning or a bound outside 1 to 255"
        )
        offset += part.size


def check_rules(spec: GameSpec) -> None:
    """Check that every switch resolves and unknown ones are refused."""
    for switch in spec.switches:
        for preset in spec.presets:
            switch.encode(switch.value_for(preset))
        for value in switch.values:
            kept = spec.resolve({switch.name: value})[switch.name]
            assert kept == value, f"switch {switch.name!r} does not keep {value!r}"
    for wrong in ({"no_such_switch": 1}, "no_such_preset"):
        try:
            spec.resolve(wrong)
        except RulesError:
            continue
        raise AssertionError(f"the rules {wrong!r} are accepted")


# Playing


def check_play(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Check masks, bounds, rewards and end in random games."""
    batch = make_batch(name, TABLES, players, rules=rules, seed=seed)
    batch.reset()
    spec, rng = batch.spec, np.random.default_rng(seed)
    low, high = spec.reward_range(rules, players)
    most = spec.max_decisions(rules, players)
    totals, ended = np.zeros((TABLES, players)), 0
    in_hand = np.zeros(TABLES, dtype=np.int64)
    for number in range(max(1, decisions // TABLES)):
        check_all_seats(batch)
        if number % 10 == 0:
            check_refusal(batch)
        hands = batch.tables[["matches", "deals"]].copy()
        batch.step(sample_actions(batch.mask, rng))
        over = batch.terminated | batch.truncated
        assert not (batch.terminated & batch.truncated).any(), (
            "a match is both terminated and truncated"
        )
        assert ((batch.reward >= low) & (batch.reward <= high)).all(), (
            f"a reward outside {low} to {high}: {batch.reward.tolist()}"
        )
        in_hand += 1
        assert in_hand.max() <= most, f"a hand of more than max_decisions = {most}"
        in_hand[(hands != batch.tables[["matches", "deals"]])] = 0
        totals += batch.reward
        assert ((totals[over] >= low - 1e-6) & (totals[over] <= high + 1e-6)).all(), (
            f"the rewards of a match sum to more than {low} to {high}: {totals[over].tolist()}"
        )
        check_sums(spec, totals, batch)
        totals[over] = 0.0
        ended += int(over.sum())
    if rules["episode"] == "deal" and decisions >= 3 * TABLES * most:
        assert ended, "no single deal has ended"


def check_sums(spec: GameSpec, totals: np.ndarray, batch: Batch) -> None:
    """Check the sum of the rewards of a match that has ended.

    A split of whole units may leave less than a unit a seat on the table. What lies there exactly
    cannot be seen of a table that has begun again; `check_hands` looks at it.
    """
    # Shares of a stake are no binary fractions.
    exact = 1e-6 + 1e-9 * np.abs(totals).sum(axis=1)
    sums, over = totals.sum(axis=1), batch.terminated | batch.truncated
    wrong = ((sums > exact) | (sums < exact - batch.num_players)) & over
    assert not (spec.zero_sum and wrong.any()), (
        f"the rewards of a match do not sum to zero: {totals[wrong].tolist()}"
    )


def check_all_seats(batch: Batch) -> None:
    """Check the observations of all seats at one moment."""
    spec, players = batch.spec, batch.num_players
    assert ((batch.seat >= 0) & (batch.seat < players)).all(), (
        f"the seats to act are {batch.seat.tolist()}"
    )
    assert batch.mask.any(axis=1).all(), f"a seat to act has no legal action: {batch.mask.tolist()}"
    packs = np.sort(batch.tables["deck"], axis=1)
    assert (packs == np.arange(spec.pack.size)).all(), "a pack no longer holds every card once"
    # A seat that is asked in secret hides behind the one on turn, which keeps its mask meanwhile.
    others = np.zeros(batch.num_tables, dtype=np.int64)
    for seat in range(players):
        observation, mask = batch.observe(seat), batch.legal_actions(seat)
        check_bounds("observation", observation, spec.observation(players))
        numbers = batch.read("seats", seat)
        assert numbers.max() <= 1.0, (
            f"what is read of seat {seat} seat by seat goes up to {numbers.max()}, and may to 1"
        )
        states = batch.information_state(seat)
        check_bounds("information state", states, spec.information_state(players))
        check_bounds("full state", batch.full_state(seat), spec.full_state(players))
        assert np.isin(mask, (0, 1)).all(), f"a mask of seat {seat} has other values than 0 and 1"
        acts = batch.seat == seat
        assert np.array_equal(batch.observation[acts], observation[acts]), (
            f"seat {seat} to act is shown another observation than observe gives"
        )
        assert np.array_equal(batch.mask[acts], mask[acts]), (
            f"seat {seat} to act is shown another mask than legal_actions gives"
        )
        others += ~acts & mask.any(axis=1)
    assert others.max() <= 1, "more than one seat that does not act has a mask that is not zero"


def check_bounds(name: str, vectors: np.ndarray, parts: tuple[Part, ...]) -> None:
    """Check that each part stays within its bound."""
    for part in parts:
        assert vectors[:, part.slice].max() <= part.high, (
            f"part {part.name!r} of the {name} exceeds its bound {part.high}"
        )


def check_refusal(batch: Batch) -> None:
    """Check that an illegal action is refused whole."""
    before = batch.tables.tobytes()
    for wrong in (-1, batch.spec.num_actions, *np.flatnonzero(batch.mask[-1] == 0)):
        actions = batch.mask.argmax(axis=1)
        actions[-1] = wrong
        try:
            batch.step(actions)
        except IllegalActionError:
            assert batch.tables.tobytes() == before, (
                f"the illegal action {wrong} was refused after something had been played"
            )
            continue
        raise AssertionError(f"the illegal action {wrong} was accepted")


# The same again


def _play(batch: Batch, uniforms: np.ndarray) -> list[bytes]:
    """Play on; return everything that was to be seen, by step."""
    seen = []
    for uniform in uniforms:
        batch.step(pick_actions(batch.mask, uniform[: batch.num_tables]))
        shown = (batch.observation, batch.mask, batch.seat, batch.reward, batch.terminated)
        seen.append(b"".join(array.tobytes() for array in (*shown, batch.truncated)))
    return seen


def check_seeds(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Check that a seed fixes everything, and that seeds, matches and tables differ."""
    uniforms = np.random.default_rng(seed).random((max(2, decisions // TABLES), TABLES))

    def tables_after(number: int) -> np.ndarray:
        batch = make_batch(name, number, players, rules=rules, seed=seed)
        batch.reset()
        _play(batch, uniforms)
        return batch.tables.copy()

    whole = tables_after(TABLES)
    for number in (TABLES, 3, 1):
        some = tables_after(number)
        for field in whole.dtype.names or ():
            assert np.array_equal(some[field], whole[field][:number]), (
                f"{number} tables play another game than {TABLES}: {field!r} differs"
            )
    other = make_batch(name, TABLES, players, rules=rules, seed=seed + 1)
    assert (other.tables["seed"] != whole["seed"]).any(), "another seed gives the same generators"
    assert len(set(whole["seed"].tolist())) == TABLES, "two tables have the same generator"


def check_copies(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Check that clones and pickled tables play on identically."""
    uniforms = np.random.default_rng(seed).random((max(4, decisions // TABLES), TABLES))
    batch = make_batch(name, TABLES, players, rules=rules, seed=seed)
    batch.reset()
    _play(batch, uniforms[: len(uniforms) // 2])
    copies = {"cloned": batch.clone(), "pickled": pickle.loads(pickle.dumps(batch))}
    rest = uniforms[len(uniforms) // 2 :]
    seen = _play(batch, rest)
    for way, copied in copies.items():
        for number, (mine, its) in enumerate(zip(seen, _play(copied, rest), strict=True)):
            assert mine == its, f"{way} tables play on differently, {number + 1} decisions later"


def check_hands(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Check that stepping is applying and dealing, and that hands have results and texts."""
    stepped = make_batch(name, TABLES, players, rules=rules, seed=seed, restart=False)
    applied = make_batch(name, TABLES, players, rules=rules, seed=seed, restart=False)
    stepped.reset()
    applied.reset(deal=False)
    fields = [field for field in stepped.spec.table.names or () if field != "reward"]
    rng, paid = np.random.default_rng(seed), np.zeros((TABLES, players))
    for _ in range(max(1, decisions // TABLES)):
        while applied.at_chance.any():
            check_texts(applied)
            applied.deal()
        for field in fields:
            assert np.array_equal(stepped.tables[field], applied.tables[field]), (
                f"stepped and applied tables differ in {field!r}"
            )
        owed = applied.tables["reward"] - stepped.tables["reward"]
        assert np.allclose(owed[:, :players], paid, rtol=1e-9, atol=1e-6), (
            "stepped and applied tables have paid different rewards"
        )
        if stepped.over.all():
            break
        actions = sample_actions(np.maximum(stepped.mask, stepped.over[:, None]), rng)
        stepped.step(actions)
        applied.apply(actions)
        paid += stepped.reward
    check_left_on_table(applied)


def check_left_on_table(batch: Batch) -> None:
    """Check that rewards and the rest that a split leaves sum to zero where a match is over."""
    if not batch.spec.zero_sum:
        return
    tables = batch.tables[batch.over]
    left = tables["left_on_table"] if "left_on_table" in (tables.dtype.names or ()) else 0
    paid = tables["reward"]
    assert np.allclose(paid.sum(axis=1) + left, 0.0, atol=1e-6 + 1e-9 * np.abs(paid).sum()), (
        f"rewards {paid.tolist()} and what is left on the table do not sum to zero"
    )


def check_texts(batch: Batch) -> None:
    """Check results and descriptions of two tables, between hands."""
    for table in range(2):
        record = batch.tables[table]
        if record["phase"] in (DEAL, OVER) and record["deals"] > 0:
            try:
                json.dumps(batch.result(table))
            except TypeError as error:
                raise AssertionError("the result of a hand is not plain data for JSON") from error
        for seat in (None, *range(batch.num_players)):
            text = batch.describe(table, seat)
            assert text.strip(), f"the description for seat {seat} is empty"


def check_packs(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Check that a hand is the same when its cards, and other chance, are given."""
    pack = spec_of(name).pack
    rng = np.random.default_rng(seed)
    for number in range(max(1, decisions // 200)):
        drawn = make_batch(name, 1, players, rules=rules, seed=seed + number, restart=False)
        drawn.reset()
        if drawn.tables["deals"][0] > 1 or drawn.over[0]:
            continue  # dealt again at once
        dealer, actions, seen = int(drawn.tables["dealer"][0]), [], [_shown(drawn)]
        while drawn.seat[0] >= 0:
            actions.append(sample_actions(drawn.mask, rng))
            drawn.apply(actions[-1])
            seen.append(_shown(drawn))
        cards = [pack.code(card) for card in drawn.drawn_cards()]
        given = drawn.clone()
        chance = drawn.game.chance(drawn.tables[0], rules)
        given.reset(seed + number + 1, deck=cards, dealer=dealer, start=chance)
        again = [_shown(given)]
        for action in actions:
            given.apply(action)
            again.append(_shown(given))
        assert seen == again, f"the cards {cards} from a given pack play apart"


def _shown(batch: Batch) -> tuple[bytes, ...]:
    """Return the observations and the rewards of all seats."""
    views = [batch.information_state(seat).tobytes() for seat in range(batch.num_players)]
    return (*views, batch.tables["reward"].tobytes(), batch.seat.tobytes())


CHECKS = (
    check_guards,
    check_play,
    check_seeds,
    check_copies,
    check_hands,
    check_packs,
    check_secrets,
    check_recall,
    check_determinizations,
    check_views,
)
