"""Checks that ship with the library: golden playthroughs, and the contract of a game."""
