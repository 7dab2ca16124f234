"""Tournaments: who sits where at which deal, playing it, keeping it, on one machine or many."""
