"""Plays a deal of Byteskille and writes it as docs/front/table.gif, all cards open (`make docs`).

python docs/table_gif.py

Four rules of thumb play. Seat 1 was dealt a kille, which ranks low, and everybody swaps it on.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image

import kille_env
from kille_agents.rules_of_thumb import rule_of_thumb
from kille_env.core.batch import Batch
from kille_env.pictures.raster import pixels
from kille_env.pictures.scene import Item, Scene, arrange

FILE = Path(__file__).parent / "front" / "table.gif"
SEATS, SEED = 4, 47
ZOOM = 0.75
STEPS, STEP_MS, FIRST_MS, HOLD_MS, LAST_MS = 7, 50, 1_800, 2_200, 4_500
"""Pictures of a movement, and how long each picture stays, in milliseconds."""
COLOURS = 64
STRIP, LETTERS, LETTERS_PER_LINE = 62.0, 25.0, 76
"""Height of the strip that says what happens, size of its letters, and how many fit."""

Picture = tuple[np.ndarray, int]
"""Pixels [H, W, 3], and how long they stay."""


def film() -> Iterator[Picture]:
    """Yield the pictures of a deal."""
    batch = kille_env.make_batch(
        "byteskille", 1, SEATS, rules={"episode": "deal"}, seed=SEED, restart=False
    )
    batch.reset()
    player = rule_of_thumb(SEATS, batch.rules)
    rng = np.random.default_rng(SEED)
    scene, line = _scene(batch), ""
    yield _picture(scene, "One card each. A kille that was dealt ranks below all others."), FIRST_MS
    while not batch.over.all():
        before, last = batch.tables[0].copy(), scene
        (chances,) = player.probabilities(batch.observation, batch.mask)
        batch.step(np.array([rng.choice(len(chances), p=chances / chances.sum())]))
        now = batch.tables[0]
        scene = _scene(batch)
        moves = batch.game.change(before, now, batch.rules, None).moves
        said = batch.game.narrate(before, now, batch.rules, None, None)
        words = _lines(said)
        for step in range(1, STEPS):
            yield _picture(_between(last, scene, dict(moves), step / STEPS), words[0]), STEP_MS
        for line in words:
            yield _picture(scene, line), HOLD_MS
    yield _picture(scene, line), LAST_MS


def _lines(said: Sequence[str]) -> list[str]:
    """Return what happened in lines that fit; the table of the cards is in the picture."""
    text = " ".join(line for line in said if not line.startswith(" "))
    lines = [""]
    for sentence in re.split(r"(?<=[.”]) ", text):
        sentence = sentence[0].upper() + sentence[1:]
        if len(lines[-1]) + len(sentence) >= LETTERS_PER_LINE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {sentence}".strip()
    return lines


def _scene(batch: Batch) -> Scene:
    return arrange(batch.game.view(batch.tables[0], batch.rules, None, None), batch.spec)


def _between(before: Scene, after: Scene, moves: dict[str, str], share: float) -> Scene:
    """Return a scene on the way: what has moved lies between where it was and where it goes."""
    eased = share * share * (3.0 - 2.0 * share)
    source = {target: item for item in before.items if (target := moves.get(item.key))}
    resting = {item.key: item for item in before.items}
    items = []
    for item in after.items:
        was = source.get(item.key) or resting.get(item.key) or item
        x, y, scale = (
            old + eased * (new - old)
            for old, new in ((was.x, item.x), (was.y, item.y), (was.scale, item.scale))
        )
        items.append(item._replace(x=x, y=y, scale=scale))
    return after._replace(items=tuple(items))


def _picture(scene: Scene, words: str) -> np.ndarray:
    """Return a scene above a strip with words."""
    width = scene.width
    text = (
        f'<text class="text label" y="{LETTERS / 3:g}" font-size="{LETTERS:g}" '
        f'text-anchor="middle">{escape(words)}</text>'
    )
    ground = f'<rect class="plate" x="{-width / 2:g}" y="{-STRIP / 2:g}" width="{width:g}" '
    items = (
        Item("ground", width / 2, STRIP / 2, 1.0, width, STRIP, f'{ground}height="{STRIP:g}"/>'),
        Item("words", width / 2, STRIP / 2, 1.0, width, STRIP, text),
    )
    strip = Scene(width, STRIP, items, words)
    return np.vstack([pixels(scene, ZOOM), pixels(strip, ZOOM)])


def write_gif(film: Sequence[Picture], file: Path) -> None:
    """Write pictures as an animation that repeats, with one palette for all of them."""
    images = [Image.fromarray(picture) for picture, _ in film]
    sample = Image.fromarray(np.vstack([picture[::3, ::3] for picture, _ in film]))
    palette = sample.quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
    first, *others = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    times = [time for _, time in film]
    first.save(file, save_all=True, append_images=others, duration=times, loop=0, optimize=True)


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    write_gif(list(film()), FILE)
    print(f"{FILE}: {FILE.stat().st_size >> 10} KiB", file=sys.stderr)
