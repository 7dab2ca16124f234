"""`render`: a table as text, as a picture, or in a window.

Pictures and windows take the extra "render", which is loaded when something is drawn.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import gymnasium

from kille_env.core.batch import Batch
from kille_env.play.options import one_of
from kille_env.words.view import View

RENDER_MODES = ("human", "ansi", "rgb_array")


class Renderer:
    """Renderer of tables by the option `render_mode`: from a seat, or with all cards open."""

    def __init__(self, batch: Batch, mode: str | None) -> None:
        """Check the option `render_mode`."""
        self.mode = None if mode is None else one_of("render_mode", mode, RENDER_MODES)
        self._batch = batch
        self._window: Any = None

    def render(self, earned: Sequence[float], table: int = 0, viewer: int | None = None) -> Any:
        """Return a table as text or pixels, or show it; `earned` is [P] units, `viewer` a seat."""
        if self.mode is None:  # as Gymnasium's own environments do
            gymnasium.logger.warn(
                "render shows nothing without a mode; make the environment with "
                'render_mode="rgb_array", "ansi" or "human"'
            )
            return None
        text = self._batch.describe(table, viewer)
        if self.mode == "ansi":
            return text
        if self.mode == "human":
            return self.show(0.0, earned, table, viewer)
        from kille_env.pictures.raster import pixels

        return pixels(self._scene(earned, table, viewer))

    def show(
        self, seconds: float, earned: Sequence[float], table: int = 0, viewer: int | None = None
    ) -> None:
        """Show a table in the window for some time, if the mode is "human"; see `render`."""
        if self.mode != "human":
            return
        from kille_env.pictures.window import Window

        if self._window is None:
            self._window = Window(self._batch.spec.title)
        self._window.show(self._scene(earned, table, viewer), seconds)

    def notebook(self, name: str, earned: Sequence[float], viewer: int | None = None) -> str:
        """Return an environment as HTML: its name and the first table."""
        if not self._batch.began:
            return f"<p>{escape(name)}</p>"
        from kille_env.pictures.svg import picture

        drawn = picture(self.look(earned, 0, viewer), self._batch.spec)
        return f"<p>{escape(name)}</p>{drawn._repr_html_()}"

    def close(self) -> None:
        """Close the window, if there is one; the next reset or step opens another one."""
        if self._window is not None:
            self._window.close()
        self._window = None

    def _scene(self, earned: Sequence[float], table: int, viewer: int | None) -> Any:
        from kille_env.pictures.scene import arrange

        return arrange(self.look(earned, table, viewer), self._batch.spec)

    def look(self, earned: Sequence[float], table: int = 0, viewer: int | None = None) -> View:
        """Return the view of a table, with all units that the match has paid so far."""
        batch = self._batch
        view = batch.game.view(batch.tables[table], batch.rules_at(table), viewer)
        both = zip(view.seats, earned, strict=True)  # the table holds what no step has paid yet
        seats = tuple(seat._replace(units=seat.units + units) for seat, units in both)
        return view._replace(seats=seats)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}
