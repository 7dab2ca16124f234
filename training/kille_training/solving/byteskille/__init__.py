"""Byteskille solved: trees of deals, whole matches, strategies in words."""
