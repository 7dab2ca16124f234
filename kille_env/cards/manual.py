"""What a manual says of the Kille pack."""

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.words.text import plain_letters

_ENGLISH = {
    Kind.BL: "mask",
    Kind.BP: "flowerpot",
    Kind.KR: "wreath",
    Kind.L1: "lily",
    Kind.VH: "inn",
    Kind.KA: "cavalier",
    Kind.SV: "pig",
    Kind.HU: "hussar",
    Kind.GO: "cuckoo",
    Kind.KI: "harlequin",
}


def describe_pack(highest: Kind = Kind.KI) -> list[str]:
    """Returns what the pack is, and how its types rank up to `highest`."""
    types = ", ".join(map(_card, range(highest + 1)))
    return [
        f"The Kille pack has {KILLE_PACK.size} cards: {len(KILLE_PACK.codes)} types, "
        f"{KILLE_PACK.copies} equal cards of each. There are no suits.",
        f"From the lowest to the highest, with code and name: {types}.",
        "Names stand here without accents: at the table you read värdshus and gök.",
    ]


def _card(kind: int) -> str:
    """Returns "VH vardshus (inn)"; only the first lily says what it is."""
    english = _ENGLISH.get(Kind(kind))
    named = f"{KILLE_PACK.codes[kind]} {plain_letters(KILLE_PACK.names[kind])}"
    return f"{named} ({english})" if english else named
