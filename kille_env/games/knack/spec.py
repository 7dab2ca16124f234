"""The facts about Knack: its switches and presets, and its `SPEC`."""

from typing import Any

from kille_env.cards.pack import pack_switch
from kille_env.core.spec import GameSpec, Rules, Switch, member_names
from kille_env.games.knack.observe import (
    full_state_parts,
    information_state_parts,
    observation_parts,
)
from kille_env.games.knack.rules import (
    ACTIONS,
    KNACK_PACK,
    MAX_PLAYERS,
    TABLE,
    TRICKS,
    Action,
    Phase,
    Remainder,
)
from kille_env.games.knack.words import RESULT_KEYS

_TWO_SUITS = "TH+JH+QH+KH+AH+TS+JS+QS+KS+AS"
_THREE_SUITS = "QD+KD+AD+JH+QH+KH+AH+JS+QS+KS+AS"

SWITCHES = (
    Switch("unit", "what the dealer pays for a trick; a bet is three of it", 1, minimum=1,
           decision="D-N12"),
    Switch("deals", "deals in a party; null is one for each player to deal", None, minimum=1,
           nullable=True, decision="D-N04"),
    Switch("must_trump", "who lacks the suit led must play a trump", False, (False, True),
           decision="D-N02"),
    Switch("remainder",
           "what cannot be divided at the end of a party is drawn for, or left on the table",
           "draw", member_names(Remainder), decision="D-N05"),
    pack_switch(KNACK_PACK, {"standard": None, "tiny": _TWO_SUITS, "small": _THREE_SUITS}, "D-N13"),
)  # fmt: skip


def _reward_range(rules: Rules, num_players: int) -> tuple[float, float]:
    """Bound the results of a party that starts without bets, and so a step's reward."""
    # In deal d the running bet is at most d - 1 stakes of three units, as a new bet is one stake
    # larger than it; at most all but one set a bet. The last step shares what lies there then. A
    # dealer pays a stake besides.
    single = rules["episode"] == "deal"
    deals = 1 if single else rules.number("deals")
    deals = deals if deals > 0 else num_players
    stake = float(TRICKS * rules.number("unit"))
    largest = stake * deals * (deals + 1) / 2  # the bet of every deal
    share = (num_players - 1) * largest // num_players + num_players - 1
    return -largest - stake * -(-deals // num_players), largest + share


def _chances(rules: Rules, num_players: int) -> list[dict[str, Any]]:
    """Return the seats that may draw the undivided rest at the end of the party."""
    if rules["remainder"] != "draw":
        return [{}]
    return [{"remainder_to": seat} for seat in range(num_players)]


SPEC = GameSpec(
    name="knack",
    title="Knack",
    version=0,
    pack=KNACK_PACK,
    min_players=2,
    max_players=MAX_PLAYERS,
    default_players=4,
    actions=ACTIONS,
    phases=member_names(Phase),
    presets=("standard", "tiny", "small"),
    switches=SWITCHES,
    table=TABLE,
    observation=observation_parts,
    information_state=information_state_parts,
    full_state=full_state_parts,
    reward_range=_reward_range,
    zero_sum=True,
    max_decisions=lambda rules, seats: (1 + TRICKS) * seats,  # everybody joins
    covered_actions=tuple(range(Action.PLAY_DOWN, len(ACTIONS))),
    cards_needed=lambda rules, seats: TRICKS * seats + 1,  # the hands and the card turned up
    chances=_chances,
    result_keys=RESULT_KEYS,
)
