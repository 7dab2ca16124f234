"""Whole pots of Byteskille: their states, and solving and measuring them."""
