"""The facts about Kungsholmskille: its switches and presets, and its `SPEC`."""

from kille_env.cards.pack import KILLE_PACK, pack_switch
from kille_env.core.spec import GameSpec, Rules, Switch, member_names
from kille_env.games.kungsholmskille.observe import (
    full_state_parts,
    information_state_parts,
    observation_parts,
)
from kille_env.games.kungsholmskille.rules import (
    ACTIONS,
    ANTE,
    MAX_PLAYERS,
    MOST_DISCARDS,
    TABLE,
    Action,
    ForcedBeat,
    Phase,
)
from kille_env.games.kungsholmskille.words import RESULT_KEYS
from kille_env.tricktaking.pots import match_switches, most_deals
from kille_env.tricktaking.tricks import FIVE_TYPES, HAND, SIX_TYPES, hand_switch

SWITCHES = (
    Switch("forehand_may_fold", "forehand may fold; else only the others", True, (False, True),
           decision="D-K02"),
    Switch("forced_beat",
           "who can head the trick does so with any card that does, or with the lowest of them",
           "any", member_names(ForcedBeat), decision="D-K03"),
    *match_switches("D-K04"),
    Switch("max_discards", "how many cards a player may exchange",
           {"standard": MOST_DISCARDS, "tiny": 1, "small": 1, "medium": 1}, maximum=MOST_DISCARDS,
           decision="D-K13"),
    pack_switch(KILLE_PACK,
                {"standard": None, "tiny": FIVE_TYPES, "small": SIX_TYPES, "medium": SIX_TYPES},
                "D-K13"),
    hand_switch({"standard": HAND, "tiny": 2, "small": 2, "medium": 3}, "D-K13"),
)  # fmt: skip


def _reward_range(rules: Rules, num_players: int) -> tuple[float, float]:
    """Bound the results of a match that begins with an empty pot, and so a step's reward."""
    # A deal adds at most two units a seat to the pot (three for one of them, but then one for the
    # others); whoever shows wrongly pays as much as the pot, and the winner gets it twice.
    deals = most_deals(rules)
    pots = float(max(ANTE * num_players, num_players + 2) * deals)
    return -pots - 3.0 * deals, 2.0 * pots


SPEC = GameSpec(
    name="kungsholmskille",
    title="Kungsholmskille",
    version=0,
    pack=KILLE_PACK,
    min_players=2,
    max_players=MAX_PLAYERS,
    default_players=4,
    actions=ACTIONS,
    phases=member_names(Phase),
    presets=("standard", "tiny", "small", "medium"),
    switches=SWITCHES,
    table=TABLE,
    observation=observation_parts,
    information_state=information_state_parts,
    full_state=full_state_parts,
    reward_range=_reward_range,
    zero_sum=True,
    # Three rounds of words, folding, exchange, tricks.
    max_decisions=lambda rules, seats: (5 + rules.number("hand") - 1) * seats,
    covered_actions=tuple(range(Action.DISCARD + 1, Action.PLAY)),
    cards_needed=lambda rules, seats: seats * (rules.number("hand") + rules.number("max_discards")),
    result_keys=RESULT_KEYS,
)
