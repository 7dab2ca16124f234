"""Show results: a short text in a terminal, tables in a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kille_env.words.text import printable


@dataclass(frozen=True)
class TextTable:
    """A table of texts."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        right = [name.startswith(">") for name in self.columns]
        lines = [[name.removeprefix(">") for name in self.columns]]
        lines += [[printable(cell) for cell in row] for row in self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join(
            [
                self.title,
                *(
                    "  ".join(
                        cell.rjust(width) if figure else cell.ljust(width)
                        for cell, width, figure in zip(line, widths, right, strict=True)
                    ).rstrip()
                    for line in lines
                ),
            ]
        )

    def _repr_html_(self) -> str:
        side = ["right" if name.startswith(">") else "left" for name in self.columns]
        lines = [("th", [name.removeprefix(">") for name in self.columns])]
        lines += [("td", [printable(cell) for cell in row]) for row in self.rows]
        body = "".join(
            "<tr>"
            + "".join(
                f'<{tag} style="text-align: {where}">{escape(cell)}</{tag}>'
                for cell, where in zip(cells, side, strict=True)
            )
            + "</tr>"
            for tag, cells in lines
        )
        return f"<table><caption>{escape(self.title)}</caption>{body}</table>"


class Result:
    """A result with a short text for terminals and tables for notebooks."""

    def parts(self) -> list[str | TextTable]:
        """Return the lines and tables to show."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(map(str, self.parts()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(
            part._repr_html_() if isinstance(part, TextTable) else f"<p>{escape(part)}</p>"
            for part in self.parts()
        )
