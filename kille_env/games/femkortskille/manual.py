"""Femkortskille's rules in plain English, as they hold at a table."""

from kille_env.cards.manual import describe_pack
from kille_env.core.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.core.spec import Rules
from kille_env.core.text import units
from kille_env.games.femkortskille.table import DEALT, DRAWN, TRICKS
from kille_env.games.femkortskille.text import MEANINGS
from kille_env.tricktaking.manual import RESULT, WINS_TRICK, describe_end, describe_heading


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    ante = rules.number("ante")
    return manual(
        f"Femkortskille is a Swedish card game. {seats_at(num_players)} Decide with {DEALT} cards "
        f"whether you play for the pot; if you do, only the last of {TRICKS} tricks counts.",
        section("Cards", [*describe_pack(), "No card has a power of its own."]),
        section("A deal", _deal(rules, num_players)),
        section("Tricks", _tricks(rules)),
        section("Money", [*_money(ante, num_players), *describe_end(rules, "equally"), RESULT]),
        section("What you see", _seen()),
        explain_actions(MEANINGS),
    )


def _deal(rules: Rules, num_players: int) -> list[str]:
    ante = rules.number("ante")
    return [
        f"Before {'the' if is_single(rules) else 'every'} deal everybody pays {units(ante)} into "
        "the pot.",
        f"Everybody gets {DEALT} cards. Forehand, the player to the dealer's left, speaks first, "
        "then the others clockwise: each knocks (plays for the pot), folds (drops out of this "
        "deal) or, while nobody has knocked, checks (waits).",
        "When all have spoken and somebody has knocked, those who checked are asked once more, in "
        "the same order, and knock or fold.",
        "If nobody has knocked, the deal is over" + ("." if is_single(rules) else _carried()),
        "If one has knocked and all others have folded, that player takes the pot without play.",
        f"If several have knocked, each of them gets {DRAWN} more cards, and they play {TRICKS} "
        "tricks.",
    ]


def _carried() -> str:
    return ": the pot stays, the next player deals, and everybody pays into it again."


def _tricks(rules: Rules) -> list[str]:
    otherwise = "any card" if rules["follow"] == "any" else "your lowest card"
    return [
        "The first of the knockers on the dealer's left leads to the first trick, with any card.",
        describe_heading(True, otherwise),
        WINS_TRICK,
        f"The winner of trick {TRICKS} wins the pot. The tricks before it are worth nothing, but "
        "their winner leads to the next.",
    ]


def _money(ante: int, num_players: int) -> list[str]:
    pot = ante * num_players
    return [
        f"The winner of the last trick takes the pot, and every other knocker pays the winner as "
        f"much again as the pot held. With a pot of {units(pot)}, the antes of one deal, each "
        f"knocker who loses pays {pot} besides the ante, and the winner gets {pot} from the pot "
        f"and {pot} from each of them.",
        f"Whoever has folded loses the ante of {units(ante)}, no more.",
    ]


def _seen() -> list[str]:
    return [
        "Everybody hears the words and sees the cards that are played. Hands, also folded ones, "
        "stay hidden.",
        "Whoever did not head a trick has only cards below its highest one.",
    ]
