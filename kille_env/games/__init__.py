"""The built-in games."""

from kille_env.registry import register

register("byteskille", "kille_env.games.byteskille")
register("kungsholmskille", "kille_env.games.kungsholmskille")
register("krypkille", "kille_env.games.krypkille", version=1)
register("knack", "kille_env.games.knack")
register("femkortskille", "kille_env.games.femkortskille")
