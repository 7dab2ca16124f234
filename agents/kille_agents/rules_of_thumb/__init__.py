"""A rule-of-thumb player for each game."""
