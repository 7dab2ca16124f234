"""Pages of the server, made from the templates in `pages/`."""

from functools import cache
from typing import Any

import jinja2
from starlette.responses import HTMLResponse


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("kille_training.web", "pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Returns a page.

    Args:
        template: Its name.
        status: HTTP's number for it.
        values: What it shows.
    """
    return HTMLResponse(_environment().get_template(template).render(values), status)
