"""Rules, tables and loops that all games share; knows no game."""
