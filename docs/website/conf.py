"""Sphinx's settings for the site: MyST for pages, Furo for looks, docstrings for the API."""

import re
from typing import Any

import kille_env

project = "kille-env"
author = "kille-env"
project_copyright = "the authors of kille-env, MIT license"
version = release = kille_env.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
root_doc = "index"
default_role = "code"
"""Docstrings put code in single backticks."""

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 5
myst_links_external_new_tab = False

autodoc_default_options = {"member-order": "bysource", "show-inheritance": False}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
napoleon_custom_sections = [("Common fields", "params_style")]
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "furo"
html_title = "kille-env"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"
pygments_style, pygments_dark_style = "friendly", "native"


def mark_code(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Mark code and sizes in a docstring for reStructuredText.

    Indented blocks are code, not quotes, and "N." alone is a size, not the first item of a list.
    """
    marked: list[str] = []
    outside = True  # of sections such as "Args:", whose lines are indented too
    for line in lines:
        if line and not line.startswith(" "):
            outside = not re.fullmatch(r"[A-Z][a-z]+:", line)
        begins = line.startswith("    ") and outside and len(marked) > 1 and not marked[-1]
        if begins and not marked[-2].startswith("    "):
            marked += [".. code-block:: default", ""]
        marked.append(re.sub(r"(: [A-Z])\.$", r"\1\\.", line))
    lines[:] = marked


def setup(app: Any) -> None:
    """Run `mark_code` on docstrings before Napoleon."""
    app.connect("autodoc-process-docstring", mark_code, priority=400)
