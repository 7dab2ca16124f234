"""A scene as pixels.

Every drawing is turned into pixels once and kept; a picture is put together from those that are
there. Letters come from a font that pygame brings, so that equal scenes are equal pixels on every
machine.
"""

import io
import os
from functools import lru_cache
from math import ceil
from pathlib import Path

import numpy as np

from kille_env.extras import missing
from kille_env.pictures.scene import Item, Scene
from kille_env.pictures.style import COLORS
from kille_env.pictures.svg import definitions

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # a library prints nothing
try:
    import pygame
    import resvg_py
except ModuleNotFoundError as error:
    raise missing(error, "render") from error

_FONT = Path(pygame.__file__).parent / pygame.font.get_default_font()
_FAMILY = "FreeSans"
_EDGE = 3.0
"""Units around a drawing's box that its outlines may reach into."""


def pixels(scene: Scene, zoom: float = 1.0) -> np.ndarray:
    """Return a scene as pixels, [H, W, 3] uint8; equal scenes are equal pixels."""
    canvas = paint(scene, zoom)
    width, height = canvas.get_size()
    seen = np.frombuffer(pygame.image.tobytes(canvas, "RGB"), dtype=np.uint8)
    return seen.reshape(height, width, 3).copy()


def paint(scene: Scene, zoom: float = 1.0) -> pygame.Surface:
    """Return a scene as a surface of pygame, for a window; the arguments are those of `pixels`."""
    ground, *things = scene.items
    canvas = _ground(ground, zoom).copy()
    for item in things:
        _put(canvas, item, zoom)
    return canvas


@lru_cache(maxsize=8)
def _ground(item: Item, zoom: float) -> pygame.Surface:
    """Return the lowest item on the color of a page; copying is faster than blending it."""
    canvas = pygame.Surface((round(item.width * zoom), round(item.height * zoom)))
    canvas.fill(COLORS["page"][0])
    _put(canvas, item, zoom)
    return canvas


def _put(canvas: pygame.Surface, item: Item, zoom: float) -> None:
    """Put an item where it belongs, to the pixel."""
    drawn = _drawn(item.scale, item.width, item.height, item.drawing, zoom)
    width, height = drawn.get_size()
    canvas.blit(drawn, (round(item.x * zoom - width / 2), round(item.y * zoom - height / 2)))


@lru_cache(maxsize=1024)
def _drawn(scale: float, width: float, height: float, drawing: str, zoom: float) -> pygame.Surface:
    """Return the pixels of an item."""
    size = scale * zoom
    across, along = (ceil((length + 2 * _EDGE) * size) for length in (width, height))
    left, top = -across / size / 2, -along / size / 2
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{along}" '
        f'viewBox="{left} {top} {across / size} {along / size}">'
        f"{definitions([drawing], 'light')}{drawing}</svg>"
    )
    image = resvg_py.svg_to_bytes(
        svg_string=document,
        skip_system_fonts=True,
        font_files=[str(_FONT)] if "<text" in document else None,
        font_family=_FAMILY,
        sans_serif_family=_FAMILY,
    )
    return pygame.image.load(io.BytesIO(bytes(image)), "drawing.png")
