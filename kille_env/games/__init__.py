"""The built-in games."""

from kille_env.registry import register

register("byteskille", "kille_env.games.byteskille")
