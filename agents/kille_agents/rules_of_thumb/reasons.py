"""Reasons of a rule of thumb in words, from the seat's observation and its kernel alone."""

from collections.abc import Callable, Sequence

import numpy as np

from kille_agents.rules_of_thumb import byteskille, knack, krypkille, kungsholmskille
from kille_agents.rules_of_thumb.habits import Seen
from kille_agents.rules_of_thumb.kille_hands import ranks
from kille_agents.rules_of_thumb.rule_of_thumb import RuleOfThumb
from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.words.text import a

EXCHANGE = "keep your lowest, and high ones to guard it."
_NUMBERS = ("nobody", "one", "two", "three", "four", "five", "six")


def reason(policy: RuleOfThumb, observation: np.ndarray, action: str, names: Sequence[str]) -> str:
    """Return the reason for an action, a sentence that begins with a small letter.

    `observation` [F] is that of the seat, of an action that names cards the first word counts, and
    `names` [P] are those of the seats from the own one on, clockwise.
    """
    return _REASONS[policy.game](policy.see(observation[None]), action.partition(" ")[0], names)


def _byteskille(seen: Seen, action: str, names: Sequence[str]) -> str:
    kind = int(byteskille.card(seen)[0])
    card = KILLE_PACK.words[kind]
    if action == "stand":
        return _stands(seen, kind, card, names)
    if action == "swap" and byteskille.low_kille(seen)[0]:
        return "it counts lowest, whatever the others hold."
    if action in ("buy", "decline"):
        powers = 1 << np.arange(16)
        pot, price = int(seen["pot"][0] @ powers), int(seen["price"][0] @ powers)
        share = (pot + price) / max(int(seen["in_hand"][0].sum()), 2)
        return f"a share of the pot ({share:.3g}) {_exceeds(share > price)} {price}."
    return {
        "swap": f"{a(card)} is too likely to be the lowest.",
        "ask": "a refusal costs you nothing.",
        "wait": "a cuckoo is never the lowest, and others may still go out.",
        "call": "a cuckoo is never the lowest, and a low card is about.",
        "no": f"{names[-1] if len(names) == 2 else 'whoever asks'} has a bad card.",
    }.get(action, "your card is bad, too.")


def _stands(seen: Seen, kind: int, card: str, names: Sequence[str]) -> str:
    if seat := int(byteskille.lower_seat(seen)[0]):
        return f"{names[seat]} holds {a(KILLE_PACK.words[int(seen['known'][0, seat]) - 1])}."
    if kind == Kind.KI and byteskille.low_kille(seen)[0]:
        if int(seen["in_hand"][0].sum()) == 2:  # see the rule of thumb
            return "it counts lowest, but then both would be out, so nobody is."
        return "it counts lowest, but you may not get rid of it."
    if kind == Kind.KI:
        return "it counts highest here."
    if kind >= Kind.VH:
        return f"the {card} protects itself: nobody can take it from you."
    waiting = int(seen["to_come"][0].sum())
    if waiting == 0:
        return f"{a(card)} is enough, and you are the last."
    number = _NUMBERS[waiting] if waiting < len(_NUMBERS) else str(waiting)
    return f"{a(card)} is enough, {number} still {'has' if waiting == 1 else 'have'} to pass."


def _exceeds(more: bool) -> str:
    return "exceeds" if more else "is less than"


def _kungsholmskille(seen: Seen, action: str, names: Sequence[str]) -> str:
    if action in ("knock", "stay", "fold"):
        strong = kungsholmskille.strength(seen)[0]
        if action == "fold" or strong < kungsholmskille.STAY:
            return "you lack a low card with high ones to guard it."
        return "you have a low card, and high ones to guard it."
    if action in ("show", "bud") and _one_card(seen):
        two = int(seen["in_play"][0].sum()) == 2
        bar = kungsholmskille.SHOW_OF_TWO if two else kungsholmskille.SHOW
        return _is_lowest(float(kungsholmskille.chance_of_lowest(seen)[0]), bar, "risk the pot")
    if action == "bud":
        return "with new cards you may do better."
    return EXCHANGE if action == "discard" else _play(bool(seen["highest"][0].any()))


def _one_card(seen: Seen) -> bool:
    return int((ranks(seen) >= 0).sum()) == 1


def _is_lowest(chance: float, bar: float, deed: str) -> str:
    if chance < 0.005:  # which would read as 0%
        return "almost certainly someone is lower."
    enough = "enough" if chance >= bar else "too little"
    return f"about {chance:.0%} that nobody is lower, {enough} to {deed}."


def _krypkille(seen: Seen, action: str, names: Sequence[str]) -> str:
    if action in ("declare", "pass"):
        bar = krypkille.DECLARE if seen.rules["allpass_lowest"] else krypkille.DECLARE_FREELY
        return _is_lowest(float(krypkille.chance_of_lowest(seen)[0]), bar, "claim it")
    return EXCHANGE if action == "discard" else _play(False)


def _play(follows: bool) -> str:
    if follows:
        return "take the trick as cheaply as you can, or give up your lowest."
    return "the others must beat it or give up their lowest, and you keep your low cards."


def _femkortskille(seen: Seen, action: str, names: Sequence[str]) -> str:
    if action == "play":
        if seen["highest"][0].any():
            return "only the last trick counts: spend as little as you can."
        return "only the last trick counts: keep your high cards."
    best = KILLE_PACK.words[int(ranks(seen).max())]
    if action == "knock":
        return f"your {best} may well win the last trick."
    free = " Waiting costs nothing." if action == "check" else ""
    if free and seen["dealer"][0, 0]:  # the last one to speak
        free = " Nobody knocks then: the pot stays."
    return f"your {best} is not high enough to win the last trick.{free}"


def _knack(seen: Seen, action: str, names: Sequence[str]) -> str:
    if action in ("knock", "fold"):
        tricks, bar = (float(f(seen)[0]) for f in (knack.tricks_in_hand, knack.tricks_to_join))
        digits = 1 if f"{tricks:.1f}" != f"{bar:.1f}" else 2
        suffices = "suffice" if tricks >= bar else "are needed"
        return f"about {tricks:.{digits}f} tricks in hand, {bar:.{digits}f} {suffices}."
    if knack.leads(seen)[0]:
        if seen["trumps"][0].any():
            return "trumps first: only higher ones take them."
        if seen["trick"][0, 1] and seen["number_joined"][0, 3]:  # led face down
            return "without a trump, give up what is worth least."
        return "without a trump, lead the card that the fewest of its suit can beat."
    if seen["takes"][0].any():
        last = int(seen["to_play"][0].sum()) == 1
        return f"it takes the trick{', and nobody plays after you' if last else ''}."
    return "you cannot take this trick; give up what is worth least."


_REASONS: dict[str, Callable[[Seen, str, Sequence[str]], str]] = {
    "byteskille": _byteskille,
    "kungsholmskille": _kungsholmskille,
    "krypkille": _krypkille,
    "femkortskille": _femkortskille,
    "knack": _knack,
}
