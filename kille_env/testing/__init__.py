"""Checks that are shipped, for the games of this suite and for anybody's.

kille_env.testing.check_game("byteskille")
"""

from kille_env.testing.contract import check_game

__all__ = ["check_game"]
