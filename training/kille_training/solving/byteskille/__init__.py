"""Solve and measure whole pots of Byteskille."""
