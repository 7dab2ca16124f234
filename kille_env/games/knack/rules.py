"""What happens at a table of Knack, as kernels: joining and the three tricks."""

import numpy as np

from kille_env.cards.features import write_bits
from kille_env.cards.pack import draw, take_pack
from kille_env.cards.seats import bit, next_seat, seat_left_of
from kille_env.cards.sets import card_bit
from kille_env.core.jit import index, kernel
from kille_env.core.table import new_deal, new_match
from kille_env.games.knack.settle import settle
from kille_env.games.knack.table import (
    ALL_CARDS,
    CARDS,
    RANK_OF,
    RANKS,
    SUIT_OF,
    TRICKS,
    Action,
    Phase,
    Rank,
    Strength,
    of_suit,
)

# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begins a party: there are no bets yet."""
    new_match(table, dealer)
    table["next_dealer"] = table["dealer"]
    table["num_sizes"] = 0
    table["bet_sizes"][:] = 0
    table["bet_counts"][:] = 0
    table["remainder_to"] = -1
    table["remainder"] = 0
    table["shared"] = 0
    table["left_on_table"] = 0
    _clear_deal(table)
    table["cards"][:] = -1


@kernel
def _clear_deal(table):
    table["hand"][:] = 0
    table["shown"] = 0
    table["joined"] = 0
    table["folded"] = 0
    table["played_for"] = 0
    table["num_joined"] = 0
    table["turn_up"] = -1
    table["trump"] = -1
    table["trick"] = 0
    table["trick_size"] = 0
    table["led"] = -1
    table["strength"] = -1
    table["holder"] = -1
    table["face_down"] = -1
    table["leaders"][:] = -1
    table["winners"][:] = -1
    table["tricks"][:] = 0
    table["void"] = 0
    table["played"][:] = -1


@kernel
def deal(table, rules):
    """Deals "först ett varv med två kort och sedan ett varv med ett kort", and turns up trumps."""
    table["dealer"] = table["next_dealer"]
    new_deal(table)
    _clear_deal(table)
    take_pack(table)
    num_players = int(table["num_players"])
    seat = np.int64(table["dealer"])
    for first, last in ((0, 2), (2, 3)):
        for _ in range(num_players):
            seat = next_seat(table, seat)
            for number in range(first, last):
                card = draw(table)
                table["cards"][index(seat), number] = card
                table["hand"][index(seat)] |= card_bit(card)
    card = draw(table)
    table["turn_up"] = card
    table["trump"] = SUIT_OF[index(card)]
    table["shown"] = card_bit(card)
    table["phase"] = Phase.JOIN
    table["seat"] = next_seat(table, table["dealer"])


# legal_actions


@kernel
def duties(table, rules, trick, leads, led):
    """What has to be played if one has it: of a first set of cards, or else of a second one.

    Args:
        table: The table.
        rules: The rules.
        trick: Number of the trick.
        leads: Whether the card is led; else it follows.
        led: The suit led, if it follows.
    """
    nothing = np.uint64(0)
    trump = np.int64(table["trump"])
    trumps = of_suit(ALL_CARDS, trump)
    # "Om förhand har trumfesset eller om det uppvända kortet är ett ess och förhand har
    # trumfkungen, måste detta kort omedelbart spelas ut."
    highest = RANKS * trump + Rank.ACE
    highest = highest - 1 if table["turn_up"] == highest else highest
    highest_trump = card_bit(highest) if trick == 0 else nothing
    # Three or more: a trump to the first and second trick. Two: to the second, from the jack up.
    many = table["num_joined"] >= 3
    high = trumps & (np.uint64(0x1FF >> Rank.JACK << Rank.JACK) << np.uint64(RANKS * trump))
    high = high if trick == 1 else nothing
    to_lead = (trumps if trick < 2 else nothing) if many else high
    following = of_suit(ALL_CARDS, max(led, 0))
    unable = trumps if rules["must_trump"] else nothing
    return (highest_trump if leads else following), (to_lead if leads else unable)


@kernel
def playable(table, rules, seat):
    """The cards that a seat may play if it is its turn: what is led, and how a trick is followed.

    Choices instead of branches: what somebody holds cannot be predicted.
    """
    hand = np.uint64(table["hand"][index(seat)])
    leads = table["trick_size"] == 0
    first, second = duties(table, rules, np.int64(table["trick"]), leads, np.int64(table["led"]))
    chosen = hand & first
    chosen = chosen if chosen != 0 else hand & second
    return chosen if chosen != 0 else hand


@kernel
def leads_face_down(table, seat):
    """Whether a seat that leads now must do so face down: the second trick, and no trump.

    "Om spelaren inte har trumf, måste hen spela ett valfritt kort i en annan färg med baksidan
    upp."
    """
    no_trumps = of_suit(table["hand"][index(seat)], np.int64(table["trump"])) == 0
    second_lead = (table["trick"] == 1) & (table["trick_size"] == 0)
    return second_lead & (table["num_joined"] >= 3) & no_trumps


@kernel
def legal_actions(table, rules, seat, out):
    """Marks what the seat to act may do."""
    acts = seat == table["seat"]
    joins = acts & (table["phase"] == Phase.JOIN)
    plays = acts & (table["phase"] == Phase.PLAY)
    cards = playable(table, rules, seat) if plays else np.uint64(0)
    down = leads_face_down(table, seat)
    face_up = np.uint64(0) if down else cards
    face_down = cards if down else np.uint64(0)
    words = np.uint64(joins) << np.uint64(Action.KNOCK) | np.uint64(joins) << np.uint64(Action.FOLD)
    write_bits(words | face_up << np.uint64(Action.PLAY), Action.PLAY_DOWN, out, 0)
    write_bits(face_down, CARDS, out, Action.PLAY_DOWN)


# apply


@kernel
def apply(table, rules, action):
    """Plays a legal action of the seat to act."""
    seat = np.int64(table["seat"])
    if action <= Action.FOLD:
        _join_or_fold(table, rules, seat, action)
    elif action < Action.PLAY_DOWN:
        _play(table, rules, seat, action - Action.PLAY, False)
    else:
        _play(table, rules, seat, action - Action.PLAY_DOWN, True)


@kernel
def _join_or_fold(table, rules, seat, action):
    knocks = action == Action.KNOCK
    table["joined"] |= bit(seat) if knocks else np.uint32(0)
    table["folded"] |= np.uint32(0) if knocks else bit(seat)
    table["num_joined"] += knocks
    dealer = np.int64(table["dealer"])
    following = next_seat(table, seat)
    if seat == dealer:
        if table["num_joined"] == 1:
            _win_without_play(table, rules, seat_left_of(table, dealer, table["joined"]))
        else:
            table["phase"] = Phase.PLAY
            _lead(table, seat_left_of(table, dealer, table["joined"]))
    elif following == dealer and table["joined"] == 0:
        _win_without_play(table, rules, dealer)
    else:
        table["seat"] = following


@kernel
def _win_without_play(table, rules, winner):
    """Gives a winner "utan spel" the tricks: "som om hen har tagit alla tre sticken"."""
    table["winners"][:] = winner
    table["tricks"][winner] = TRICKS
    settle(table, rules)


@kernel
def _lead(table, seat):
    table["leaders"][index(table["trick"])] = seat
    table["trick_size"] = 0
    table["led"] = -1
    table["strength"] = -1
    table["holder"] = -1
    table["seat"] = seat


@kernel
def strength_of(card, led, trump):
    """How a card stands in a trick to which a suit was led."""
    suit, rank = SUIT_OF[index(card)], RANK_OF[index(card)]
    in_suit = Strength.LED + rank if suit == led else 0
    return Strength.TRUMP + rank if suit == trump else in_suit


@kernel
def _play(table, rules, seat, card, face_down):
    trick, trump = index(table["trick"]), np.int64(table["trump"])
    suit = trump if face_down else SUIT_OF[index(card)]
    leads = table["trick_size"] == 0
    led = suit if leads else np.int64(table["led"])
    table["led"] = led
    table["hand"][index(seat)] &= ~card_bit(card)
    table["played"][trick, index(seat)] = card
    strength = Strength.FACE_DOWN if face_down else strength_of(card, led, trump)
    if face_down:
        table["face_down"] = card
    else:
        table["shown"] |= card_bit(card)
    lacks = _lacks(table, rules, leads, SUIT_OF[index(card)], led)
    table["void"] |= lacks << np.uint64(seat)
    if strength > table["strength"]:
        table["strength"] = strength
        table["holder"] = seat
    table["trick_size"] += 1
    if table["trick_size"] < table["num_joined"]:
        table["seat"] = seat_left_of(table, seat, table["joined"])
    else:
        _take_trick(table, rules)


@kernel
def _lacks(table, rules, leads, suit, led):
    """The suits that somebody lacks, since the rules forbade this card otherwise: as in `void`."""
    trump, p = np.int64(table["trump"]), np.int64(table["num_players"])
    trump_duty = (table["num_joined"] >= 3) & (table["trick"] < 2)
    must_trump = rules["must_trump"] != 0
    no_trump = (suit != trump) & (trump_duty if leads else must_trump & (suit != led))
    no_led = (suit != led) & (not leads)
    return np.uint64(no_led) << np.uint64(led * p) | np.uint64(no_trump) << np.uint64(trump * p)


@kernel
def _take_trick(table, rules):
    winner = np.int64(table["holder"])
    table["winners"][index(table["trick"])] = winner
    table["tricks"][index(winner)] += 1
    table["trick"] += 1
    if table["trick"] < TRICKS:
        _lead(table, winner)
    else:
        settle(table, rules)
