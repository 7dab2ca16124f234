"""What the manuals of the games with tricks and pots have in common."""

from kille_env.core.spec import Rules
from kille_env.words.manual import is_single
from kille_env.words.text import counted

WINS_TRICK = (
    "The highest card wins the trick; of two equal ones the later. The winner leads to the next."
)
RESULT = "Your result is all that you get minus all that you pay."


def describe_heading(any_card: bool, otherwise: str) -> str:
    """Returns how a trick is followed.

    Args:
        any_card: Whether any card that heads will do, or the lowest of them has to be played.
        otherwise: What somebody plays who cannot head: "any card".
    """
    which = "any of them you like" if any_card else "the lowest of them"
    return (
        "Heading is compulsory: if you hold cards that are as high as the highest of the trick or "
        f"higher, you play one of them, {which}. If you hold none, you play {otherwise}."
    )


def describe_end(rules: Rules, sharing: str) -> list[str]:
    """Returns when a match for a pot ends.

    Args:
        rules: The rules, with the switches of `kille_env.tricktaking.pots`.
        sharing: How the pot is then shared: "equally".
    """
    if is_single(rules):
        return [f"You play a single deal. A pot that nobody wins is shared {sharing} at its end."]
    cap, deals = rules.number("max_deals"), rules["deals"]
    carried = "The deal passes to the next player on the left, whatever happened."
    if deals is None:
        end = "The match ends as soon as a pot is won."
    else:
        end = (
            f"The match is {counted(rules.number('deals'), 'deal', 'deals')}. A pot that is won is "
            f"followed by a new one; what is in the pot at the end is shared {sharing}."
        )
    if deals is not None and rules.number("deals") <= cap:
        return [f"{carried} {end}"]
    cut = f"After {counted(cap, 'deal', 'deals')} it is cut off, and the pot is shared {sharing}."
    return [f"{carried} {end}", cut]
