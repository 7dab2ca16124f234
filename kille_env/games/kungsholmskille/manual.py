"""Kungsholmskille's rules in plain English, as they hold at a table."""

from kille_env.cards.manual import describe_pack
from kille_env.core.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.core.spec import Rules
from kille_env.core.text import units
from kille_env.games.kungsholmskille.table import ANTE, MOST_DISCARDS, TRICKS
from kille_env.games.kungsholmskille.text import MEANINGS
from kille_env.tricktaking.manual import RESULT, WINS_TRICK, describe_end, describe_heading
from kille_env.tricktaking.tricks import HAND

SHARING = "equally in whole units (a remainder stays on the table)"


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    return manual(
        f"Kungsholmskille is a Swedish card game. {seats_at(num_players)} After {TRICKS} tricks "
        "everybody has one card left; the lowest of these wins the pot, if somebody shows.",
        section("Cards", [*describe_pack(), "No card has a power of its own."]),
        section("A deal", _deal(rules, num_players)),
        section("Tricks", _tricks(rules)),
        section("Showing", _showing()),
        section("Money", [*_money(num_players), *describe_end(rules, SHARING), RESULT]),
        section("Owed for the next deal", _owed(num_players)) if not is_single(rules) else "",
        section("What you see", _seen()),
        explain_actions(MEANINGS),
    )


def _deal(rules: Rules, num_players: int) -> list[str]:
    fold = "Forehand may fold like the others."
    if not rules["forehand_may_fold"]:
        fold = "Forehand must stay."
    return [
        f"Everybody gets {HAND} cards. Forehand is the player to the dealer's left.",
        "From forehand on, clockwise, everybody says bud (would rather have a new deal) or knocks "
        "(asks for play). If all say bud, it is a bud round: the deal is over.",
        "As soon as one knocks, the others, from the knocker's left on, stay in or fold, also "
        f"those who have said bud. {fold} If forehand has folded, the nearest player to the left "
        "who is in becomes forehand. If all fold, the knocker takes the pot without play.",
        f"From forehand on everybody who is in discards up to {MOST_DISCARDS} cards and gets as "
        "many new ones.",
        "Then everybody who is in says bud or knocks again, from forehand on. If all say bud, it "
        "is a bud round. At the first knock the tricks begin; nobody can fold any more.",
    ]


def _tricks(rules: Rules) -> list[str]:
    return [
        f"{TRICKS} tricks are played. Forehand leads to the first, with any card.",
        describe_heading(rules["forced_beat"] == "any", "your lowest card"),
        WINS_TRICK,
        "Tricks are worth nothing by themselves. They decide which card you keep as your last.",
    ]


def _showing() -> list[str]:
    return [
        f"From the winner of trick {TRICKS} on, clockwise, each says bud or shows the last card. "
        "If all say bud, it is a bud round, and the cards stay hidden. As soon as one shows, all "
        "who are in turn up theirs.",
        "If the card of the one who has shown is lower than all others, that player wins the pot.",
        "If another card is equal or lower, its holder wins the pot, and the one who has shown "
        "pays them as much again as the pot holds. The lowest card wins; of two others who share "
        f"it, the one who sits later, counted from the winner of trick {TRICKS}.",
    ]


def _money(num_players: int) -> list[str]:
    pot = ANTE * num_players
    return [
        f"Before the first deal everybody pays {units(ANTE)} into the pot: {units(pot)} in all. "
        f"Whoever shows wrongly for this pot pays {pot} to the winner, who gets {2 * pot}.",
        "Whoever folds, or loses without having shown, pays nothing more in this deal.",
        "After a bud round the pot stays.",
    ]


def _owed(num_players: int) -> list[str]:
    three = "" if num_players == 2 else _three_in_the_showing()
    two = "After a showing of two players, the loser pays 3 and everybody else 1, the winner too."
    return [
        "What you owe is paid into the pot when the next deal begins, and lapses at the end of the "
        "match.",
        "After a bud round before the exchange, or when nobody has folded: 1 unit each. After a "
        "later one for which somebody has folded: 1 from each who has folded, nothing from others.",
        "After a pot that was won without play: 1 each, from the winner too.",
        three,
        two,
    ]


def _three_in_the_showing() -> str:
    return (
        "After a showing of three or more players: 2 from each of them but the winner, nothing "
        "from the winner and those who folded."
    )


def _seen() -> list[str]:
    return [
        "Everybody hears bud and knocks, and sees who folds, how many cards each player exchanges "
        "and every card that is played. Hands and discards stay hidden.",
        "Whoever did not head a trick has no card that would have done so, and none below the "
        "card that they played.",
    ]
