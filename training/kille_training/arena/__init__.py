"""Tournaments and comparisons: scheduled, played and stored, on one machine or many."""
