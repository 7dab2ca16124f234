"""Knack's rules in plain English, as they hold at a table."""

from kille_env.core.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.core.spec import Rules, member_names
from kille_env.core.text import counted, units
from kille_env.games.knack.table import KNACK_PACK, RANKS, SUIT_NAMES, SUITS, TRICKS, Rank
from kille_env.games.knack.text import MEANINGS

RANK_NAMES = member_names(Rank)


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    return manual(
        f"Knack is a Swedish card game. {seats_at(num_players)} With {TRICKS} cards you decide "
        f"whether you join; the dealer pays for each of the {TRICKS} tricks, but whoever joins and "
        "takes none pays a bet.",
        section("Cards", _cards()),
        section("A deal", _deal()),
        section("Tricks", _tricks(rules)),
        section("Leading", _leads(num_players)),
        section("Money", _money(rules)),
        section("The end", _end(rules, num_players)),
        section("What you see", _seen(num_players)),
        explain_actions(_actions(num_players)),
    )


def _cards() -> list[str]:
    ranks = [f"{code[0]} {name}" for code, name in zip(KNACK_PACK.codes, RANK_NAMES, strict=False)]
    suits = [f"{letter} {name}" for letter, name in zip(SUITS, SUIT_NAMES, strict=True)]
    return [
        f"There are {KNACK_PACK.size} cards: {RANKS} ranks in {len(SUITS)} suits, one card of "
        "each. A code is the rank and the suit: "
        f"{KNACK_PACK.codes[0]} is the {KNACK_PACK.names[0]}.",
        f"Ranks, from the lowest to the highest: {', '.join(ranks)}.",
        f"Suits: {', '.join(suits)}.",
    ]


def _deal() -> list[str]:
    return [
        f"Everybody gets {TRICKS} cards. The next card is turned up: its suit is trumps. That card "
        "is out of play, and so is the rest of the pack.",
        "From forehand on, the player to the dealer's left, and clockwise, everybody knocks "
        "(joins) or folds (drops out of this deal).",
        f"If only one joins, that player wins without play, as if with all {TRICKS} tricks. If all "
        "before the dealer fold, the dealer wins so, and is not asked.",
    ]


def _tricks(rules: Rules) -> list[str]:
    cannot = "If you hold none of it, you play any card."
    if rules["must_trump"]:
        cannot = "If you hold none of it, you must play a trump; without a trump, any card."
    return [
        "Those who have joined play. Forehand is now the first of them on the dealer's left, and "
        "leads to the first trick; the winner of a trick leads to the next.",
        f"You must follow the suit that was led. {cannot}",
        "The highest trump wins the trick; without one, the highest card of the suit led.",
    ]


def _leads(num_players: int) -> list[str]:
    many = [
        "If three or more have joined, the leader of the first trick otherwise leads a trump, and "
        "without a trump any card.",
        "If three or more have joined, the leader of the second trick leads a trump. Without one, "
        "a card is led face down: it counts as a trump below the six, so the others must follow "
        "with trumps, and it wins if nobody has one. It is never shown.",
    ]
    return [
        "The leader of the first trick must lead the ace of trumps if they hold it, and so the "
        "king of trumps if the ace is the card turned up.",
        "If two have joined, the leader of the first trick otherwise leads any card.",
        "If two have joined, the leader of the second trick leads a trump from the jack up, any of "
        "them; without one, any card.",
        *(many if num_players > 2 else []),
    ]


def _money(rules: Rules) -> list[str]:
    unit = rules.number("unit")
    bet = TRICKS * unit
    lines = [
        f"The dealer pays {units(unit)} for each trick to whoever took it, {units(bet)} in all; "
        "also a dealer who has folded. For their own tricks they pay themselves.",
        f"Whoever has joined and taken no trick sets a bet of {units(bet)} on the table. Whoever "
        "folds pays nothing, but for the dealer's payment.",
    ]
    if is_single(rules):
        return lines
    return [
        *lines,
        "While bets lie on the table, the smallest is the running bet. A deal is played for it as "
        f"well: each of the {TRICKS} tricks takes an equal part of it. A new bet is then "
        f"{units(bet)} and as much as the running bet. The other bets wait for the next deals.",
    ]


def _end(rules: Rules, num_players: int) -> list[str]:
    rest = "One player, drawn at random, gets what cannot be divided."
    if rules["remainder"] == "left":
        rest = "What cannot be divided stays on the table."
    if is_single(rules):
        length = "You play a single deal. The bets that were set in it"
    else:
        deals = num_players if rules["deals"] is None else rules.number("deals")
        length = (
            "The deal passes to the next player on the left. The match is a party of "
            f"{counted(deals, 'deal', 'deals')}. The bets that then lie on the table"
        )
    return [
        f"{length} are shared equally by all {num_players} players, in whole units. {rest}",
        "Your result is all that you get minus all that you pay.",
    ]


def _seen(num_players: int) -> list[str]:
    down = ", but for one that is led face down" if num_players > 2 else ""
    return [
        "Everybody sees the card turned up, who joins, every card that is played"
        f"{down}, and the bets. Hands, also folded ones, stay hidden.",
        "Whoever does not follow suit has none of it left.",
    ]


def _actions(num_players: int) -> dict[str, str]:
    return MEANINGS if num_players > 2 else {**MEANINGS, "play": "play this card"}
