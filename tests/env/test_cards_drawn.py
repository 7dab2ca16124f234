"""The cards as pictures: every card has a face, and no two look alike."""

import io
import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import kille_env
from kille_env.cards.pack import KILLE_PACK
from kille_env.errors import CardError
from kille_env.pictures import cards
from kille_env.pictures.style import COLORS, style

resvg_py = pytest.importorskip("resvg_py", reason="pictures take the extra render")

CODES = cards.codes()
THUMBNAIL = 24
"""Pixels across."""
LEAST = 15.0
"""Root mean square of the differences in grey, of 255, between any two cards as thumbnails."""


def pixels(code: str | None, width: int) -> Image.Image:
    """Return a card as a renderer without a browser shows it."""
    symbols, face = cards.symbols([code] if code else []), code or "back"
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 92" width="{width}" '
        f'height="{width * 92 / 64:g}"><style>{style("light")}</style>{symbols}'
        f'<use href="#card-{face}" width="64" height="92"/></svg>'
    )
    return Image.open(io.BytesIO(bytes(resvg_py.svg_to_bytes(svg_string=document))))


def difference(a: Image.Image, b: Image.Image) -> float:
    """Return how far two pictures are apart without their colors."""
    grey, other = (np.asarray(picture.convert("L"), dtype=float) for picture in (a, b))
    return float(np.sqrt(np.mean((grey - other) ** 2)))


def test_every_card_of_every_game_is_drawn_and_nothing_else() -> None:
    packs = {code for game in kille_env.list_games() for code in kille_env.spec(game).pack.codes}
    assert packs == set(CODES) and len(CODES) == len(packs)


def test_pictures_are_called_what_the_pack_calls_them() -> None:
    names = dict(zip(KILLE_PACK.codes, KILLE_PACK.names, strict=True))
    for code in cards.PICTURES:
        assert f'data-name="{names[code]}"' in cards.symbols([code])


def test_faces_hold_known_classes_and_no_colors_texts_or_names_of_their_own() -> None:
    known = {*COLORS, *(f"line-{name}" for name in COLORS), "edge", "line"}
    page = ElementTree.fromstring(f"<svg>{cards.symbols(CODES)}</svg>")
    tags = {element.tag for element in page.iter()}
    assert tags <= {"svg", "symbol", "g", "path", "rect", "circle", "ellipse"}
    for element in page.iter():
        assert set(element.get("class", "").split()) <= known
        assert not {"fill", "stroke", "style"} & set(element.keys())
        assert element.tag == "symbol" or "id" not in element.attrib


@pytest.mark.parametrize("theme", ["light", "both"])
def test_every_class_has_a_rule(theme: str) -> None:
    used = set(re.findall(r'class="([^"]+)"', cards.symbols(CODES)))
    sheet = style(theme)
    for name in {name for classes in used for name in classes.split()}:
        assert f".{name}{{" in sheet
    assert ("var(" in sheet) == (theme == "both")


def test_symbols_are_unique_and_bring_the_back() -> None:
    names = re.findall(r'<symbol id="([^"]+)"', cards.symbols(["L5", "KI", "L5", "TD"]))
    assert names == ["card-L5", "card-KI", "card-TD", "card-back"]


def test_no_two_cards_look_alike_as_grey_thumbnails() -> None:
    drawn = {code: pixels(code, THUMBNAIL) for code in (*CODES, None)}
    apart = {pair: difference(*(drawn[code] for code in pair)) for pair in combinations(drawn, 2)}
    closest = min(apart, key=lambda pair: apart[pair])
    assert apart[closest] >= LEAST, closest


def test_the_measure_finds_cards_that_differ_in_color_only(monkeypatch: pytest.MonkeyPatch) -> None:
    clubs = pixels("KC", THUMBNAIL)
    monkeypatch.setitem(cards.SUITS, "C", ("clubs", "blue"))
    cards._faces.cache_clear()
    try:
        assert 0 < difference(clubs, pixels("KC", THUMBNAIL)) < LEAST
    finally:
        cards._faces.cache_clear()


def test_a_card_has_the_size_that_is_asked_for() -> None:
    light = pixels("GO", 128)
    assert light.size == (128, 184)
    middle = light.convert("RGBA").getpixel((64, 100))
    assert middle[3] == 255 and light.convert("RGBA").getpixel((0, 0))[3] < 128


@pytest.mark.parametrize("code", ["L13", "XX", "", "back"])
def test_a_card_that_does_not_exist_is_refused(code: str) -> None:
    with pytest.raises(CardError, match="expected one of BL, BP"):
        cards.symbols([code])
