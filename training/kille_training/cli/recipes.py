"""`kille recipes`: the settings that come with the package."""

from pathlib import Path

import click

from kille_env.core.text import columns
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training import recipes as shipped
from kille_training.cli import console


@click.command(epilog="Example: kille recipes train/knack --out knack.yaml")
@click.argument("name", required=False)
@click.option("--out", type=click.Path(path_type=Path), help="Copy it to this file.")
@console.json_option
def recipes(name: str | None, out: Path | None, as_json: bool) -> None:
    """List the recipes for `kille train` and `kille tournament`, show one, or copy one."""
    if name is None:
        if out is not None:
            raise click.UsageError("Name the recipe to copy: kille recipes NAME --out FILE")
        found = {each: shipped.about(each) for each in shipped.names()}
        console.report({"recipes": found}, columns(list(found.items()), indent=""), as_json)
        return
    text = shipped.recipe(name).read_text(encoding="utf-8")
    if out is None:
        console.report({"recipe": name, "text": text}, [text.rstrip()], as_json)
        return
    if out.exists():
        raise ConfigError(f"{out} exists; choose another file, or remove it first")
    write_whole(out, text.encode())
    console.report({"recipe": name, "out": str(out)}, [f"{name} is in {out}"], as_json)
