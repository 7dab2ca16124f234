"""The facts about Byteskille: its switches and presets, and its `SPEC`."""

from kille_env.cards.pack import KILLE_PACK
from kille_env.core.spec import GameSpec, Rules, Switch, member_names
from kille_env.games.byteskille.observe import (
    full_state_parts,
    information_state_parts,
    observation_parts,
)
from kille_env.games.byteskille.rules import (
    MAX_PLAYERS,
    TABLE,
    Action,
    Ante,
    Fraga,
    GokCall,
    HighKille,
    KilleRank,
    NextDealer,
    Phase,
    PigScope,
    Reentry,
    TwoPlayer,
    Wiki2Second,
    redeals,
)
from kille_env.games.byteskille.words import RESULT_KEYS


def _by_preset(svensk: str | bool, wikipedia: str | bool) -> dict[str, str | bool | int | None]:
    return {"svensk": svensk, "wikipedia": wikipedia}


SWITCHES = (
    Switch("stake", "what everybody puts into the pot; what a loser of a single deal pays", 2,
           minimum=1, even=True, decision="D-E19"),
    Switch("ante", "the stake is paid once for the pot, or before each deal by those who are in",
           _by_preset("pot", "deal"), member_names(Ante), decision="D-E01"),
    Switch("dealt_kille", "rank of a kille that was dealt", _by_preset("low", "high"),
           member_names(KilleRank), decision="D-E02"),
    Switch("meeting", "rank of two killes that are exchanged for each other",
           _by_preset("high", "low"), member_names(KilleRank), decision="D-E02"),
    Switch("high_kille", "a high kille is as high as a gok, or higher",
           _by_preset("equal_gok", "above_gok"), member_names(HighKille), decision="D-E03"),
    Switch("dealer_after_inn",
           "the dealer still has a turn after the dealer's inn or cavalier sent a player to the "
           "talon",
           False, (False, True), decision="D-E04"),
    Switch("pig_scope", "a svin undoes the exchanges of the chopped card, or all exchanges", "card",
           member_names(PigScope), decision="D-E06"),
    Switch("undo_restores", "an exchange that is undone gives a kille its old rank back", True,
           (False, True), decision="D-E07"),
    Switch("lowest_excludes_chopped", "the cards of chopped players are not compared for lowest",
           True, (False, True), decision="D-E08"),
    Switch("gok_call", "when the holder of a gok may end the round", _by_preset("any_time", "off"),
           member_names(GokCall), decision="D-E10"),
    Switch("fraga", "forehand may ask for better cards when two or three are dealt in",
           _by_preset("forced", "off"), member_names(Fraga), decision="D-E11"),
    Switch("fraga3_dealer_accept", "with three, the dealer may accept the question alone",
           _by_preset(False, True), (False, True), decision="D-E11"),
    Switch("max_redeals", "questions that can be granted in a deal", 16, decision="D-E11"),
    Switch("stock_redraw", "who draws an inn or cavalier draws again, or else the exchange fails",
           _by_preset(True, False), (False, True), decision="D-E12"),
    Switch("second_includes_new",
           "the second occasion to buy in is also for those who went out after the first", True,
           (False, True), decision="D-E13"),
    Switch("next_dealer",
           "the next dealer is the nearest player who is in after, or before, buying in", "after",
           member_names(NextDealer), decision="D-E14"),
    Switch("two_player", "rules for the last two: as for more, or those of the English article",
           _by_preset("ordinary", "wiki"), member_names(TwoPlayer), decision="D-E15"),
    Switch("reentry", "who may buy in again, when and for how much", _by_preset("svensk", "wiki3"),
           member_names(Reentry), decision="D-E16 D-E22"),
    Switch("wiki2_second", "price of the second re-entry under wiki2: half the pot or all of it",
           "half", member_names(Wiki2Second), decision="D-E16"),
    Switch("reentry_plus_ante", "the next deal's ante comes on top of the price of buying in", True,
           (False, True), decision="D-E16"),
    Switch("reentry_one_left",
           "under wiki3 the last player can be challenged before taking the pot", False,
           (False, True), decision="D-E16"),
    Switch("pots", "pots in a match", 1, minimum=1, decision="D-E26"),
    Switch("max_deals", "hands, dealt again or not, after which a match is cut off", 200, minimum=1,
           decision="D-E26"),
)  # fmt: skip


def _reward_range(rules: Rules, num_players: int) -> tuple[float, float]:
    """Bound a match's results, and so a step's: all that a seat can pay, and all the pots."""
    # A pot is largest when everybody buys in as often as they may, the dearest entries last.
    stake = rules.number("stake")
    if rules["episode"] == "deal":
        return -float(stake), float(stake * (num_players - 1))
    paid = stake * (rules.number("max_deals") if rules["ante"] == "deal" else 1)
    pot = paid * num_players
    if rules["reentry"] == "wiki3":  # a stake, half the pot, the pot; each at its own time
        pot += stake * num_players
        for _ in range(num_players):
            pot += (pot + 1) // 2
        pot *= 2**num_players
        paid = pot
    elif rules["reentry"] != "none" and num_players > 2:  # two occasions, for all who are out
        pot += 2 * stake * (num_players - 2)
        full = rules["reentry"] == "wiki2" and rules["wiki2_second"] == "full"
        price = pot if full else (pot + 1) // 2
        pot += price * (num_players - 2)
        paid += 2 * stake + price
    pots = rules.number("pots")
    return -float(paid * pots), float(pot * pots)


def _max_decisions(rules: Rules, num_players: int) -> int:
    """Bound the decisions of a hand: turns, gok holders before each, a question, buying in."""
    asked = 2 * num_players if rules["gok_call"] == "any_time" else 0
    return num_players + asked + 4 + num_players


SPEC = GameSpec(
    name="byteskille",
    title="Byteskille",
    version=0,
    pack=KILLE_PACK,
    min_players=2,
    max_players=MAX_PLAYERS,
    default_players=4,
    actions=member_names(Action),
    phases=member_names(Phase),
    presets=("svensk", "wikipedia"),
    switches=SWITCHES,
    table=TABLE,
    observation=observation_parts,
    information_state=information_state_parts,
    full_state=full_state_parts,
    reward_range=_reward_range,
    zero_sum=True,
    max_decisions=_max_decisions,
    secret_phases=(Phase.GOK,),
    secret_actions=(Action.WAIT,),
    redeals=redeals,
    result_keys=RESULT_KEYS,
)
