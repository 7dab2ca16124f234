"""Exact solving: flat game trees, regret minimization over them, exact NashConv.

Entry point: `solve`. A deal is a chain of hands (`stages`), each a game in sequence form
(`trees.sequence_game`). `size` estimates the memory, `grow` builds the game by a `walk` over tables
that writes into `arrays`. `policies` converts players to strategies and back; `deal_solver` solves
by `trees.cfr`, and `trees.values` measures. Whole pots of Byteskille (`byteskille`) are stochastic
games of hands. `solution` is the stored result, `text` shows it, and `export` converts it for
OpenSpiel.
"""
