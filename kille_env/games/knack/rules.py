"""Knack's record of a table and its rules as kernels, from the deal to the payment.

A card is `9 * suit + rank`: suits clubs, diamonds, hearts, spades, ranks from the six (0) to the
ace (8). A set of cards is a word with bit `card` for each card, so that following suit is one mask;
a set of seats is a word with bit `seat`. The bets on the table are kept as piles of equal size:
`bet_sizes` in stakes of three units, ascending, and `bet_counts`, how many there are of each. A new
bet is one stake larger than the smallest, so that two sizes are alive besides those of a start.
"""

from enum import IntEnum

import numpy as np

from kille_env.cards.features import write_bits
from kille_env.cards.pack import draw, leave_out, left_out, take_pack
from kille_env.cards.seats import bit, has, next_seat, seat_left_of
from kille_env.cards.sets import card_bit
from kille_env.core.jit import index, kernel
from kille_env.core.pack import Pack
from kille_env.core.rng import below
from kille_env.core.spec import SINGLE_DEAL, member_names
from kille_env.core.table import new_deal, new_match, table_dtype

MAX_PLAYERS = 11  # 3 * 11 + 1 cards of 36
TRICKS = 3


class Suit(IntEnum):
    """The suits, as cards are numbered."""

    CLUBS, DIAMONDS, HEARTS, SPADES = range(4)


class Rank(IntEnum):
    """The ranks, the lowest first."""

    SIX, SEVEN, EIGHT, NINE, TEN, JACK, QUEEN, KING, ACE = range(9)


RANKS = len(Rank)
SUITS = "".join(suit.name[0] for suit in Suit)
SUIT_NAMES = member_names(Suit)

KNACK_PACK = Pack(
    tuple(rank + suit for suit in SUITS for rank in "6789TJQKA"),
    1,
    tuple(f"{rank} of {suit}" for suit in SUIT_NAMES for rank in member_names(Rank)),
    tuple(f"{rank}{suit}" for suit in "♣♦♥♠" for rank in (*range(6, 11), *"JQKA")),
)
CARDS = KNACK_PACK.size


class Action(IntEnum):
    """The actions; PLAY and PLAY_DOWN are the first of those that name a card."""

    KNOCK, FOLD, PLAY = range(3)
    PLAY_DOWN = PLAY + CARDS


ACTIONS = (
    "knock",
    "fold",
    *(f"play {code}" for code in KNACK_PACK.codes),
    *(f"play *{code}" for code in KNACK_PACK.codes),
)


class Phase(IntEnum):
    """The phases of a deal."""

    DEAL, OVER, JOIN, PLAY = range(4)


class Strength(IntEnum):
    """How strong a card is in a trick, besides its rank; a card of no use has strength 0."""

    LED, FACE_DOWN, TRUMP = 10, 19, 20


Remainder = IntEnum("Remainder", "DRAW LEFT", start=0)  # the values of a switch
START_SIZES = 14  # different bets that a match can start with
MAX_SIZES = START_SIZES + 2

SUIT_OF = np.array([card // RANKS for card in range(CARDS)], dtype=np.int64)
RANK_OF = np.array([card % RANKS for card in range(CARDS)], dtype=np.int64)
ALL_CARDS = np.uint64((1 << CARDS) - 1)

TABLE = table_dtype(
    MAX_PLAYERS,
    CARDS,
    [
        ("shown", np.uint64),  # cards left out or played open, and the card turned up
        ("void", np.uint64),  # by suit, P bits each: the seats that publicly lack it
        ("hand", np.uint64, (MAX_PLAYERS,)),  # by seat: set of cards; folded hands stay
        ("bet_sizes", np.int64, (MAX_SIZES,)),
        ("bet_counts", np.int64, (MAX_SIZES,)),
        ("shared", np.int64),  # bets that were shared at the end of the party
        ("left_on_table", np.int64),  # what could not be divided, and nobody drew
        ("joined", np.uint32),
        ("folded", np.uint32),
        ("played_for", np.int64),  # size of the running bet that this deal was played for
        ("num_sizes", np.int8),
        ("remainder_to", np.int8),  # who takes an indivisible remainder; -1 is drawn when needed
        ("remainder", np.int8),  # what it took
        ("next_dealer", np.int8),
        ("num_joined", np.int8),
        ("turn_up", np.int8),
        ("trump", np.int8),
        ("trick", np.int8),  # number of the trick, from 0
        ("trick_size", np.int8),  # cards in it
        ("led", np.int8),  # suit that is to be followed
        ("strength", np.int8),  # of the card that wins the trick so far
        ("holder", np.int8),  # who has played it
        ("face_down", np.int8),  # the card that was led face down, -1 none
        ("leaders", np.int8, (TRICKS,)),
        ("winners", np.int8, (TRICKS,)),
        ("tricks", np.int8, (MAX_PLAYERS,)),  # by seat
        ("cards", np.int8, (MAX_PLAYERS, 3)),  # by seat: the cards that it was dealt
        ("played", np.int8, (TRICKS, MAX_PLAYERS)),  # -1 none
    ],
)


@kernel
def of_suit(cards, suit):
    """Return the cards of a suit in a set of cards."""
    return np.uint64(cards) & (np.uint64(0x1FF) << np.uint64(RANKS * np.int64(suit)))


@kernel
def running_bet(table):
    """Return the size of the running bet, the smallest: "lägst värderade"; 0 without bets."""
    return np.int64(table["bet_sizes"][0]) if table["num_sizes"] > 0 else np.int64(0)


@kernel
def deals_left(table, rules):
    """Return the number of deals of the party that are still to come."""
    deals = rules["deals"] if rules["deals"] > 0 else np.int64(table["num_players"])
    return (1 if rules["episode"] == SINGLE_DEAL else deals) - np.int64(table["deals"])


# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begin a party: there are no bets yet."""
    new_match(table, dealer)
    table["next_dealer"] = table["dealer"]
    table["num_sizes"] = 0
    table["bet_sizes"][:] = 0
    table["bet_counts"][:] = 0
    table["remainder_to"] = -1
    table["remainder"] = 0
    table["shared"] = 0
    table["left_on_table"] = 0
    _clear_deal(table, rules)
    table["cards"][:] = -1


@kernel
def _clear_deal(table, rules):
    table["hand"][:] = 0
    # Cards that the rules leave out are known to everybody, like open ones.
    table["shown"] = left_out(rules)  # nobody can hold them
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
    """Deal "först ett varv med två kort och sedan ett varv med ett kort", and turn up trumps."""
    table["dealer"] = table["next_dealer"]
    new_deal(table)
    _clear_deal(table, rules)
    take_pack(table)
    if left_out(rules) != 0:
        leave_out(table, left_out(rules))
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
    table["shown"] |= card_bit(card)
    table["phase"] = Phase.JOIN
    table["seat"] = next_seat(table, table["dealer"])


# legal_actions


@kernel
def duties(table, rules, trick, leads, led):
    """Return the cards to play if one holds them: a first set, or else a second one."""
    nothing = np.uint64(0)
    trump = np.int64(table["trump"])
    trumps = of_suit(ALL_CARDS, trump)
    # "Om förhand har trumfesset eller om det uppvända kortet är ett ess och förhand har
    # trumfkungen, måste detta kort omedelbart spelas ut."
    highest = RANKS * trump + Rank.ACE
    # With the ace turned up, the king is the highest trump that a hand can hold (D-N09).
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
    """Return the cards that a seat may play on its turn, by the rules for leading and following."""
    # Choices instead of branches: the hands cannot be predicted.
    hand = np.uint64(table["hand"][index(seat)])
    leads = table["trick_size"] == 0
    first, second = duties(table, rules, np.int64(table["trick"]), leads, np.int64(table["led"]))
    chosen = hand & first
    chosen = chosen if chosen != 0 else hand & second
    return chosen if chosen != 0 else hand


@kernel
def leads_face_down(table, seat):
    """Return whether a seat that leads now must do so face down: second trick, no trump."""
    # "Om spelaren inte har trumf, måste hen spela ett valfritt kort i en annan färg med baksidan
    # upp."
    no_trumps = of_suit(table["hand"][index(seat)], np.int64(table["trump"])) == 0
    second_lead = (table["trick"] == 1) & (table["trick_size"] == 0)
    return second_lead & (table["num_joined"] >= 3) & no_trumps


@kernel
def legal_actions(table, rules, seat, out):
    """Mark the legal actions of the seat to act."""
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
    """Play a legal action of the seat to act."""
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
    # All before the dealer have folded: the dealer wins without being asked.
    elif following == dealer and table["joined"] == 0:
        _win_without_play(table, rules, dealer)
    else:
        table["seat"] = following


@kernel
def _win_without_play(table, rules, winner):
    """Give a winner "utan spel" the tricks: "som om hen har tagit alla tre sticken"."""
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
    """Return the strength of a card in a trick to which a suit was led."""
    suit, rank = SUIT_OF[index(card)], RANK_OF[index(card)]
    in_suit = Strength.LED + rank if suit == led else 0
    return Strength.TRUMP + rank if suit == trump else in_suit


@kernel
def _play(table, rules, seat, card, face_down):
    trick, trump = index(table["trick"]), np.int64(table["trump"])
    # A card that is led face down calls for trumps, whatever it is.
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
    """Return the suits that a seat lacks, as its card was forbidden otherwise: as in `void`."""
    trump, p = np.int64(table["trump"]), np.int64(table["num_players"])
    trump_duty = (table["num_joined"] >= 3) & (table["trick"] < 2)
    must_trump = rules["must_trump"] != 0
    # A card that is led face down shows no suit, but everybody can tell that its seat has no trump.
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


# How a deal ends


@kernel
def settle(table, rules):
    """Pay for the tricks, set the bets, and go on to the next deal or end the party."""
    # A running bet of `size` stakes of three units is worth `size` units per trick, beside the unit
    # from the dealer; a new bet is the three units and "värdet av den bet man spelade om".
    size = running_bet(table)
    unit = np.int64(rules["unit"])
    worth = unit * (1 + size)
    failed = np.int64(0)
    for seat in range(int(table["num_players"])):
        tricks = np.int64(table["tricks"][index(seat)])
        fails = has(table["joined"], seat) & (tricks == 0)
        failed += fails
        table["reward"][index(seat)] += tricks * worth - (TRICKS * worth if fails else 0)
    # In every deal, beside a running bet, and not in the first alone (D-N07).
    table["reward"][index(table["dealer"])] -= TRICKS * unit
    table["played_for"] = size
    _take_running_bet(table)
    # After the running bet is gone, and larger than that alone, not than all bets (D-N08).
    _add_bets(table, size + 1, failed)
    table["next_dealer"] = next_seat(table, table["dealer"])
    table["seat"] = -1
    if deals_left(table, rules) <= 0:
        _share_bets(table, rules)
        table["phase"] = Phase.OVER
    else:
        table["phase"] = Phase.DEAL


@kernel
def _take_running_bet(table):
    """Take one of the smallest bets away: the three tricks have paid it out."""
    if table["num_sizes"] == 0:
        return
    table["bet_counts"][0] -= 1
    if table["bet_counts"][0] == 0:
        for pile in range(MAX_SIZES - 1):
            table["bet_sizes"][pile] = table["bet_sizes"][pile + 1]
            table["bet_counts"][pile] = table["bet_counts"][pile + 1]
        table["bet_sizes"][MAX_SIZES - 1] = 0
        table["bet_counts"][MAX_SIZES - 1] = 0
        table["num_sizes"] -= 1


@kernel
def _add_bets(table, size, number):
    """Lay bets of a size to the others: "måste de olika betarna hållas åtskilda"."""
    if number == 0:
        return
    sizes, counts = table["bet_sizes"], table["bet_counts"]
    place = 0
    while place < table["num_sizes"] and sizes[place] < size:
        place += 1
    if place == table["num_sizes"] or sizes[place] != size:
        for pile in range(MAX_SIZES - 1, place, -1):
            sizes[pile] = sizes[pile - 1]
            counts[pile] = counts[pile - 1]
        sizes[place] = size
        counts[place] = 0
        table["num_sizes"] += 1
    counts[place] += number


@kernel
def _share_bets(table, rules):
    """Share the bets on the table at the end: "delas lika mellan spelarna" (D-N05)."""
    total = np.int64(0)
    for pile in range(int(table["num_sizes"])):
        total += np.int64(table["bet_sizes"][pile]) * np.int64(table["bet_counts"][pile])
    total *= TRICKS * np.int64(rules["unit"])
    if total == 0:
        return
    num_players = np.int64(table["num_players"])
    share = total // num_players
    rest = total - share * num_players
    table["shared"] = total
    for seat in range(num_players):
        table["reward"][index(seat)] += share
    if rest == 0:
        return
    if rules["remainder"] == Remainder.DRAW:
        # Drawn only when there is something to draw for: matches without a remainder use no random
        # number for it.
        if table["remainder_to"] < 0:
            table["remainder_to"] = below(table, num_players)
        table["reward"][index(table["remainder_to"])] += rest
        table["remainder"] = rest
    else:
        table["left_on_table"] = rest
