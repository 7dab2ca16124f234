"""Determinizations of Byteskille, as kernels.

A seat knows the cards that lie open and those that it has held, for it can follow them. Of the
others the events say what they are not, since a card shows itself when something happens to it:

- A card that was asked for and given, or taken from the talon, is no matador and no kille.
- A card that its holder gave for another, or laid aside for one from the talon, is no kille. It may
  be a matador: nobody had asked for it.
- With two players by the English article's rules no kille is dealt, and no gok without a showdown.

Nothing else follows: a seat may stand, ask, or not call with any card. Each bound contains the one
before, so places with few choices are dealt first and every arrangement is equally likely: how many
cards the later places find does not depend on the choice.
"""

import numpy as np

from kille_env.cards.arrange import deal_places, relabel_cards, relabel_set, whole_pack
from kille_env.cards.pack import Kind
from kille_env.cards.sets import card_bit, in_cards
from kille_env.core.jit import index, kernel
from kille_env.games.byteskille.rules import UNDONE, Event, KilleRank, Phase, TwoPlayer, card_type

NO_MATADORS, NO_GOKS, NO_KILLES = (
    np.uint64((1 << 2 * kind) - 1) for kind in (Kind.VH, Kind.GO, Kind.KI)
)


@kernel
def resample(table, rules, seat, cards):
    """Draw an arrangement of the cards that a seat cannot tell from this one."""
    # A question to another gok holder on this turn is hidden as well: it would tell the seat of
    # the gok. In the determinization such questions are over.
    if table["phase"] == Phase.GOK and table["seat"] != seat:
        table["phase"] = Phase.TURN
        table["seat"] = table["order"][index(table["turn"])]
    if table["phase"] != Phase.GOK:
        table["gok_offset"] = 0
    hidden = np.uint64(0)
    for position in range(cards.shape[0]):
        card = index(table["deck"][index(position)])
        seen = in_cards(table["shown"] | table["held"][index(seat)], card)
        if position >= table["drawn"] or not seen:
            hidden |= card_bit(card)
    given, offered = np.uint64(0), np.uint64(0)
    for number in range(table["num_events"]):
        event = table["events"][index(number)]
        if event[0] == Event.EXCHANGE or event[0] == Event.TALON_TAKEN:
            offered |= card_bit(event[3])
            given |= card_bit(event[4])
    dealt = np.uint64(0)
    if table["num_players_dealt"] == 2 and rules["two_player"] == TwoPlayer.WIKI:
        for position in range(2):
            dealt |= card_bit(table["dealt"][index(table["order"][position])])
    free, everywhere = hidden, whole_pack(cards)
    bounds = (given, NO_MATADORS), (dealt, NO_GOKS), (offered, NO_KILLES), (everywhere, everywhere)
    for places, may_come in bounds:
        free = deal_places(table, hidden & places, free, may_come, cards)
        hidden &= ~places


@kernel
def relabel(table, rules, cards):
    """Replace card c by `cards[c]` everywhere in the table."""
    relabel_cards(table["hand"], cards)
    relabel_cards(table["dealt"], cards)
    relabel_cards(table["laid_aside"][: table["num_laid_aside"]], cards)
    relabel_cards(table["deck"], cards)
    for position in range(table["num_players_dealt"]):
        seat = index(table["order"][index(position)])
        table["held"][seat] = relabel_set(table["held"][seat], cards)
    shown = table["shown"]
    table["high"] = _relabel_ranks(table["high"], shown, rules, cards)
    for number in range(table["num_events"]):
        event = table["events"][index(number)]
        relabel_cards(event[3:5], cards)
        if event[0] == Event.EXCHANGE or event[0] == Event.TALON_TAKEN:
            ranks = _relabel_ranks(event[5], shown, rules, cards)
            event[5] = (event[5] & UNDONE) | ranks
    table["shown"] = relabel_set(shown, cards)
    # Counted again: a hidden gok may have left the hands for the talon, or come from it.
    goks = 0
    for position in range(table["num_players_dealt"]):
        goks += card_type(table["hand"][index(table["order"][index(position)])]) == Kind.GO
    table["goks"] = goks


@kernel
def _relabel_ranks(ranks, shown, rules, cards):
    """Return the ranks of the killes: an open one keeps its own, a dark one ranks as dealt."""
    relabeled = np.int64(3 if rules["dealt_kille"] == KilleRank.HIGH else 0)
    for copy in range(2):
        kille = 2 * Kind.KI + copy
        if in_cards(shown, kille):
            flag = np.int64(1) << (np.int64(cards[index(kille)]) & 1)
            high = (np.int64(ranks) >> copy) & 1 != 0
            relabeled = (relabeled | flag) if high else (relabeled & ~flag)
    return relabeled
