"""Finite games: trees, sequence form, solvers and values, independent of card games."""
