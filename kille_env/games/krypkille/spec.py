"""The facts about Krypkille: its switches and presets, and its `SPEC`."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK, Kind, pack_switch
from kille_env.core.spec import GameSpec, Rules, Switch, member_names
from kille_env.games.krypkille.observe import (
    full_state_parts,
    information_state_parts,
    observation_parts,
)
from kille_env.games.krypkille.rules import (
    ACTIONS,
    FIRST_WORTH,
    MAX_PLAYERS,
    TABLE,
    Action,
    Phase,
    Worth,
)
from kille_env.games.krypkille.words import RESULT_KEYS
from kille_env.tricktaking.tricks import FIVE_TYPES, HAND, SIX_TYPES, hand_switch


def _points(name: str, meaning: str, default: Any = 0) -> Switch:
    """Return a switch for a number of the table of outcomes."""
    return Switch(name, meaning, default, decision="D-R01", pays=True)


def _worth(name: str, meaning: str, default: Any = "denomination") -> Switch:
    """Return a switch for the points of a card, in the table of outcomes."""
    return Switch(name, meaning, default, member_names(Worth), decision="D-R01", pays=True)


SWITCHES = (
    Switch("max_discards", "how many cards a player may discard",
           {"reconstructed": 3, "blog2010": HAND, "tiny": 1, "small": 1}, maximum=HAND,
           decision="D-R08"),
    _points("right_declarer", "points of a declarer who has the lowest card"),
    _worth("right_others", "what the others then score for their cards"),
    _worth("wrong_declarer_base", "what a declarer who is wrong scores for the last card",
           {"reconstructed": "denomination", "blog2010": "zero"}),
    _points("wrong_declarer_extra", "points on top of that", 10),
    _points("wrong_lowest", "points of each of the others who then has the lowest card"),
    _worth("wrong_others", "what the rest then score for their cards"),
    _points("allpass_lowest", "points of everybody with the lowest card when all have passed",
            {"reconstructed": 10, "blog2010": 0}),
    _points("allpass_others", "points of the others then"),
    Switch("tie_beats_declarer", "a declarer with whose card another is equal is wrong, else right",
           True, (False, True), decision="D-R05", pays=True),
    _points("kille_denomination", "denomination of the kille",
            {"reconstructed": 50, "blog2010": 18}),
    Switch("limit", "points with which a player is out", 50, minimum=1, decision="D-R09"),
    Switch("max_deals", "deals after which a match is cut off", 500, minimum=1, decision="D-R09"),
    pack_switch(KILLE_PACK, {"reconstructed": None, "tiny": FIVE_TYPES, "small": SIX_TYPES},
                "D-R10"),
    hand_switch({"reconstructed": HAND, "tiny": 2, "small": 3}, "D-R10"),
)  # fmt: skip


def _reward_range(rules: Rules, num_players: int) -> tuple[float, float]:
    """Bound a step's reward: the 1 of a match, or minus the points of a single deal."""
    if rules["episode"] == "match":
        return 0.0, 1.0
    dearest = max(Kind.KI - 1 - FIRST_WORTH, rules.number("kille_denomination"))
    flat = ("right_declarer", "wrong_lowest", "allpass_lowest", "allpass_others")
    most = max(dearest + rules.number("wrong_declarer_extra"), *map(rules.number, flat))
    return -float(most), 0.0


SPEC = GameSpec(
    name="krypkille",
    title="Krypkille",
    version=1,
    pack=KILLE_PACK,
    min_players=2,
    max_players=MAX_PLAYERS,
    default_players=4,
    actions=ACTIONS,
    phases=member_names(Phase),
    presets=("reconstructed", "blog2010", "tiny", "small"),
    switches=SWITCHES,
    table=TABLE,
    observation=observation_parts,
    information_state=information_state_parts,
    full_state=full_state_parts,
    reward_range=_reward_range,
    zero_sum=False,
    max_decisions=lambda rules, seats: 2 * seats + rules.number("hand") - 1,  # and the leads
    covered_actions=tuple(range(Action.DISCARD + 1, Action.PLAY)),
    cards_needed=lambda rules, seats: seats * rules.number("hand"),  # the talon may run out: D-R03
    result_keys=RESULT_KEYS,
)
