"""Strict YAML: no aliases, no repeated keys, and 3e-4 is a number."""

import re
from typing import Any

import yaml

from kille_env.errors import ConfigError


def parse(text: str | bytes, where: str) -> Any:
    """Parse YAML into plain values."""
    try:
        return yaml.load(text, Loader=_Loader)
    except RecursionError:
        raise ConfigError(f"{where} is nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: no text, or a huge number
        said = " ".join(str(error).split())
        raise ConfigError(f"{where} is not valid YAML: {said}") from None


class _Loader(yaml.SafeLoader):
    """Safe YAML loader that refuses aliases, which can expand to gigabytes, and repeated keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node."""
        if self.check_event(yaml.AliasEvent):
            at = self.peek_event().start_mark
            raise yaml.YAMLError(f"an alias (*) is refused, write the value out; {at}")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Construct a mapping with distinct keys; numbers become texts."""
        seen = set[str]()
        for written, _ in node.value:
            key, at = self.construct_object(written, deep=True), written.start_mark
            if isinstance(key, bool) or not isinstance(key, (str, int, float)):
                raise yaml.YAMLError(f"a key is read as {key!r}, put it in quotes; {at}")
            if str(key) in seen:
                raise yaml.YAMLError(f"the key {key} is written twice; {at}")
            seen.add(str(key))
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(  # YAML 1.1 reads 3e-4 as a text
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)
