"""The facts about Femkortskille: its switches and presets, and its `SPEC`."""

from kille_env.cards.pack import KILLE_PACK, pack_switch
from kille_env.core.spec import GameSpec, Rules, Switch, member_names
from kille_env.games.femkortskille.observe import (
    full_state_parts,
    information_state_parts,
    observation_parts,
)
from kille_env.games.femkortskille.rules import (
    ACTIONS,
    DEALT,
    DRAWN,
    MAX_PLAYERS,
    TABLE,
    Follow,
    Phase,
)
from kille_env.games.femkortskille.words import RESULT_KEYS
from kille_env.tricktaking.pots import match_switches, most_deals
from kille_env.tricktaking.tricks import SIX_TYPES

SWITCHES = (
    Switch("ante", "what everybody pays into the pot before a deal", 1, minimum=1,
           decision="D-F02"),
    Switch("follow", "who cannot head the trick plays any card, or the lowest", "any",
           member_names(Follow), decision="D-F08"),
    *match_switches("D-F09"),
    pack_switch(KILLE_PACK, {"standard": None, "tiny": SIX_TYPES, "small": SIX_TYPES}, "D-F13"),
    Switch("hand", "how many cards everybody is dealt", {"standard": DEALT, "tiny": 2, "small": 2},
           minimum=1, maximum=DEALT, decision="D-F13"),
    Switch("draws", "how many more cards a knocker gets",
           {"standard": DRAWN, "tiny": 1, "small": 2}, minimum=1, maximum=DRAWN, decision="D-F13"),
)  # fmt: skip


def _reward_range(rules: Rules, num_players: int) -> tuple[float, float]:
    """Bound a match's results, and so a step's reward."""
    # All pots of a match together hold the antes of all deals; the other knockers pay as much
    # again.
    antes = float(rules.number("ante") * most_deals(rules))
    pots = num_players * antes
    return -pots - antes, num_players * pots


def _most_cards(rules: Rules) -> int:
    """Return the cards that a player who knocks has had."""
    return rules.number("hand") + rules.number("draws")


SPEC = GameSpec(
    name="femkortskille",
    title="Femkortskille",
    version=0,
    pack=KILLE_PACK,
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
    # A word, another one after a check, and the tricks; everybody may knock.
    max_decisions=lambda rules, seats: (2 + _most_cards(rules)) * seats,
    cards_needed=lambda rules, seats: seats * _most_cards(rules),
    result_keys=RESULT_KEYS,
)
