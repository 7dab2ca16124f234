"""Finite games with perfect recall: trees, sequence form, solvers, values. Knows no card game."""
