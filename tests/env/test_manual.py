"""The manuals say what the rules are: every switch, every number, every action."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kille_env
from kille_env.core.batch import Batch
from kille_env.core.spec import PackSwitch, Rules, Switch
from kille_env.words.manual import describe_switches, render

GAMES = kille_env.list_games()
SEATS = {"byteskille": (2, 3, 4, 5), "krypkille": (2, 4, 5, 6)}
"""Numbers of seats at which some rules cannot matter, and others; else two, three and most."""
BASES: dict[str, tuple[dict[str, Any], ...]] = {
    "byteskille": (
        {},
        {"preset": "wikipedia"},
        {"reentry": "wiki2"},
        {"reentry": "wiki3", "ante": "deal", "fraga": "off"},
        {"reentry": "none", "two_player": "wiki", "gok_call": "any_time"},
    ),
    "krypkille": ({}, {"preset": "blog2010"}, {"max_discards": 0}),
}
POTS = {"deals": lambda r, n: r["episode"] == "deal", "max_deals": lambda r, n: _no_cap(r)}


def _no_cap(rules: Rules) -> bool:
    deals = rules["deals"]
    return rules["episode"] == "deal" or (deals is not None and deals < rules["max_deals"])


def _deal(rules: Rules, seats: int) -> bool:
    return rules["episode"] == "deal"


def _two_by_article(rules: Rules, seats: int) -> bool:
    return seats == 2 and rules["two_player"] == "wiki"


def _no_question(rules: Rules, seats: int) -> bool:
    return rules["fraga"] == "off" or (_deal(rules, seats) and seats > 3)


def _no_buying(rules: Rules, seats: int) -> bool:
    """Two seats never leave two in when one goes out; `wiki2` waits for exactly three."""
    fewest = {"none": 99, "svensk": 3, "wiki2": 4, "wiki3": 3 - bool(rules["reentry_one_left"])}
    return _deal(rules, seats) or seats < fewest[str(rules["reentry"])]


NO_EFFECT: dict[str, dict[str, Callable[[Any, int], bool]]] = {
    "byteskille": {
        "ante": _deal,
        "dealt_kille": _two_by_article,
        "meeting": _two_by_article,
        "pig_scope": _two_by_article,
        "undo_restores": _two_by_article,
        "gok_call": _two_by_article,
        "fraga": lambda r, n: _deal(r, n) and n > 3,
        "fraga3_dealer_accept": lambda r, n: _no_question(r, n) or n == 2,
        "max_redeals": _no_question,
        "second_includes_new": lambda r, n: _no_buying(r, n) or r["reentry"] != "svensk",
        "next_dealer": _no_buying,
        "two_player": lambda r, n: _deal(r, n) and n > 2,
        "reentry": _no_buying,
        "wiki2_second": lambda r, n: _no_buying(r, n) or r["reentry"] != "wiki2",
        "reentry_plus_ante": lambda r, n: _no_buying(r, n) or r["ante"] == "pot",
        "reentry_one_left": lambda r, n: _deal(r, n) or r["reentry"] != "wiki3",
        "pots": _deal,
        "max_deals": lambda r, n: _deal(r, n) and _no_question(r, n) and not _two_by_article(r, n),
    },
    "femkortskille": POTS,
    "knack": {"deals": _deal},
    "krypkille": {"wrong_others": lambda r, n: n == 2, "limit": _deal, "max_deals": _deal},
    "kungsholmskille": POTS,
}
"""When a switch cannot matter, by the pages of the games: the text need not name it then."""


def tables(game: str) -> Iterator[tuple[Rules, int]]:
    spec = kille_env.spec(game)
    for seats in SEATS.get(game, (2, 3, spec.max_players)):
        for episode in ("match", "deal"):
            for base in BASES.get(game, ({}, {"deals": 3})):
                yield spec.resolve(base, episode=episode), seats


def others(switch: Switch, rules: Rules) -> list[Any]:
    """Values of a switch besides the one that holds."""
    now = rules[switch.name]
    if switch.values:
        return [value for value in switch.values if value != now]
    if isinstance(switch, PackSwitch):
        return ["+".join(switch.pack.codes[1:])]
    values = [now + 2, max(switch.minimum, now // 2 * 2 - 2)] if now is not None else [7, 9]
    return [v for v in values if v != now and v <= switch.maximum and not (switch.even and v % 2)]


@pytest.mark.parametrize("game", GAMES)
def test_every_switch_changes_the_text_unless_it_cannot_matter(game: str) -> None:
    spec, no_effect = kille_env.spec(game), NO_EFFECT[game]
    for rules, seats in tables(game):
        text = kille_env.registry.describe_rules(game, rules, seats)
        for switch in spec.switches:
            for value in others(switch, rules):
                changed = spec.resolve({**rules.as_dict(), switch.name: value})
                if seats > spec.most_players(changed):
                    continue
                same = kille_env.registry.describe_rules(game, changed, seats) == text
                apply = no_effect.get(switch.name, lambda rules, seats: False)
                matters = not (apply(rules, seats) and apply(changed, seats))
                assert matters != same, (switch.name, value, seats, rules.as_dict())


@pytest.mark.compiled
@pytest.mark.parametrize("game", GAMES)
def test_a_switch_that_the_text_leaves_out_changes_nothing(game: str) -> None:
    """The same seeds and choices earn the same, whatever its value."""
    spec, played = kille_env.spec(game), 0
    for rules, seats in tables(game):
        for switch in spec.switches:
            for value in others(switch, rules)[:1]:
                changed = spec.resolve({**rules.as_dict(), switch.name: value})
                if seats > spec.most_players(changed):
                    continue
                text, other = (
                    kille_env.registry.describe_rules(game, r, seats) for r in (rules, changed)
                )
                if text == other:
                    played += 1
                    mine, its = (_earned(game, r, seats) for r in (rules, changed))
                    assert (mine == its).all(), (switch.name, value, seats, rules.as_dict())
    assert played


def _earned(game: str, rules: Rules, seats: int) -> np.ndarray:
    """What 64 tables earn when legal actions are drawn, from the same numbers each time."""
    batch = kille_env.make_batch(game, 64, seats, rules=rules, seed=5, restart=False)
    batch.reset()
    rng, total = np.random.default_rng(7), batch.tables["reward"][:, :seats].copy() * 0
    for _ in range(60):
        if not (batch.seat >= 0).any():
            break
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
        total += batch.reward
    return total


@pytest.mark.parametrize("game", GAMES)
def test_the_order_of_the_cards_is_the_packs(game: str) -> None:
    pack = kille_env.spec(game).pack
    text = kille_env.registry.describe_rules(game)
    (ranking,) = re.findall(r"[Ff]rom the lowest to the highest[^:]*: (.*)\.", text)
    cards = [card.partition(" (")[0].split(" ", 1) for card in ranking.split(", ")]
    codes, names = zip(*cards, strict=True)
    if game == "knack":
        assert [code + "C" for code in codes] == list(pack.codes[:9])
        assert [f"{name} of clubs" for name in names] == list(pack.names[:9])
    else:
        known = pack.codes[: 20 if game == "byteskille" else 21]
        assert list(codes) == list(known)
        assert list(names) == list(pack.names[: len(known)])
    assert f"{pack.size} cards" in text


@pytest.mark.compiled
@pytest.mark.parametrize("game", GAMES)
def test_every_action_that_occurs_is_explained_and_no_other(game: str) -> None:
    for rules, seats in tables(game):
        text = kille_env.registry.describe_rules(game, rules, seats)
        explained = set(re.findall(r'^- "(\w+)": ', text, re.MULTILINE))
        batch = kille_env.make_batch(game, 128, seats, rules=rules, seed=1)
        batch.reset()
        met = np.zeros(batch.spec.num_actions, dtype=bool)
        rng = np.random.default_rng(3)
        for _ in range(150):
            met |= batch.mask.any(axis=0)
            batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
        verbs = {batch.spec.actions[action].split(" ")[0] for action in np.flatnonzero(met)}
        assert verbs == explained, (seats, rules.as_dict())


def _first(game: str, seats: int, rules: dict[str, Any]) -> tuple[str, Batch]:
    batch = kille_env.make_batch(game, 200, seats, rules=rules, seed=2, restart=False)
    batch.reset()
    return kille_env.registry.describe_rules(game, rules, seats), batch


@pytest.mark.compiled
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_a_single_deal_of_byteskille_costs_what_the_text_says(seats: int) -> None:
    rules = {"episode": "deal", "stake": 6}
    text, batch = _first("byteskille", seats, rules)
    ((lost, gained),) = re.findall(r"is out pays ([\d.]+) chips.* gains ([\d.]+) chips?", text)
    reward = np.zeros(batch.reward.shape)
    while (batch.seat >= 0).any():
        batch.step(batch.mask.argmax(axis=1))  # everybody stands
        reward += batch.reward
    one_out = (reward < 0).sum(axis=1) == 1
    assert one_out.sum() > 100
    assert np.allclose(reward[one_out].min(axis=1), -float(lost))
    assert np.allclose(reward[one_out].max(axis=1), float(gained), atol=0.005)


@pytest.mark.compiled
def test_the_first_pots_hold_what_the_texts_say() -> None:
    for game, rules in (("femkortskille", {"ante": 3}), ("kungsholmskille", {})):
        text, batch = _first(game, 5, rules)
        (pot,) = set(re.findall(r"(?:With a pot of|into the pot:) (\d+)", text))
        assert {int(pot)} == set(batch.tables["pot"].tolist())


@pytest.mark.compiled
def test_what_cards_cost_in_krypkille_is_what_the_text_says() -> None:
    rules = {"episode": "deal", "wrong_declarer_extra": 7, "kille_denomination": 33}
    text, batch = _first("krypkille", 4, rules)
    costs = {code: int(n) for code, n in re.findall(r"\b([A-Z]+\d*) (\d+)(?=[,.])", text)}
    assert set(costs) >= set(batch.spec.pack.codes)
    (extra,) = re.findall(r"denomination of the card and (\d+) points more", text)
    while (batch.seat >= 0).any():
        batch.step(batch.mask.argmax(axis=1))  # the first to guess declares
    wrong = 0
    for table in range(batch.num_tables):
        result = batch.result(table)
        last, points, declarer = result["last"], result["points"], result["declarer"]
        lowest = min(last, key=batch.spec.pack.codes.index)
        right = last[declarer] == lowest and last.count(lowest) == 1
        wrong += not right
        assert points[declarer] == (0 if right else costs[last[declarer]] + int(extra))
        for seat, card in enumerate(last):
            if seat != declarer:
                assert points[seat] == (0 if card == lowest else costs[card])
    assert 20 < wrong < 180


def test_a_game_without_a_manual_lists_its_switches() -> None:
    spec = kille_env.spec("knack")
    text = describe_switches(spec, spec.resolve(episode="deal"), 3)
    assert "3 players" in text
    assert "- episode: deal (" in text
    assert all(f"- {switch.name}: " in text for switch in spec.switches)
    assert all(f'- "{verb}".' in text for verb in ("knock", "fold", "play"))


def test_lines_sections_and_numbers_of_a_manual_follow_its_values() -> None:
    text = """let tricks = hand - 1

A game for {seats} players.
  [if seats > 2] Many play.

## Tricks
- {tricks|trick}, worth {stake / 3|chip}
  [if follow = lowest] (lowest).
  [if follow != lowest] (any).
- [if seats = 2] Two.

## [if seats = 2] Duel
- Only two.

## Empty
- [if seats > 3] Never."""
    values = {"seats": 3, "hand": 2, "stake": 3, "follow": "any", "lowest": "lowest"}
    assert render(text, values) == (
        "A game for 3 players. Many play.\n\nTricks:\n- 1 trick, worth 1 chip (any)."
    )
    duel = render(text, {**values, "seats": 2, "hand": 4, "stake": 2, "follow": "lowest"})
    assert duel == (
        "A game for 2 players.\n\nTricks:\n- 3 tricks, worth 0.67 chips (lowest).\n- Two.\n\n"
        "Duel:\n- Only two."
    )


@pytest.mark.parametrize("game", GAMES)
def test_manuals_are_clean(game: str) -> None:
    for rules, seats in tables(game):
        text = kille_env.registry.describe_rules(game, rules, seats)
        assert not re.search(r" \n|  |\.\.|,\.|None|\{|\bTrue|\bFalse|\n- \n| $", text)
        assert f"{seats} players" in text
        assert all(line[-1] in ".:" for line in text.splitlines() if line)
