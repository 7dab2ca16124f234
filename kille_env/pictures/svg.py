"""A scene as an SVG document."""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from kille_env.core.spec import GameSpec
from kille_env.pictures.cards import symbols
from kille_env.pictures.scene import Item, Scene, arrange
from kille_env.pictures.style import Theme, style
from kille_env.words.view import View

_CARD = re.compile(r'href="#card-(\w+)"')


class Picture(str):
    """An SVG document that a notebook shows."""

    def _repr_html_(self) -> str:
        # As an image of its own: the symbols of cards have the same ids in every picture.
        code = b64encode(self.encode()).decode()
        return f'<img style="max-width: 40em" src="data:image/svg+xml;base64,{code}">'


def picture(view: View, spec: GameSpec, names: Sequence[str] | None = None) -> Picture:
    """Return the picture of a view; see `arrange`."""
    return Picture(document(arrange(view, spec, names=names), "light"))


def document(scene: Scene, theme: Theme = "light") -> str:
    """Return a scene as an SVG document that needs nothing besides itself."""
    drawings, title = "".join(map(_group, scene.items)), escape(scene.title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scene.width:g}" height="{scene.height:g}"'
        f' class="table" viewBox="0 0 {scene.width:g} {scene.height:g}" '
        f'role="img" aria-label="{title}"><title>{title}</title>'
        f"{definitions([drawings], theme)}{drawings}</svg>"
    )


def definitions(drawings: Iterable[str], theme: Theme) -> str:
    """Return the rules and the symbols that drawings need to be seen in a theme."""
    codes = {code: None for drawing in drawings for code in _CARD.findall(drawing)}
    cards = symbols(code for code in codes if code != "back") if codes else ""
    return f"<style>{style(theme)}</style><defs>{cards}</defs>"


def _group(item: Item) -> str:
    scale = f" scale({item.scale:.3g})" if item.scale != 1 else ""
    key = escape(item.key)
    return (
        f'<g data-key="{key}" transform="translate({item.x:.1f} {item.y:.1f}){scale}">'
        f"{item.drawing}</g>"
    )
