"""Exact solving: flat game trees, regret minimization over them, exact NashConv.

`solve` is the way in. A deal is a chain of hands (`stages`), each a game without its nodes
(`trees.sequence_game`). `size` says whether it fits, `grow` makes it, by a `walk` over tables that
writes into `arrays`. Players become strategies and back in `policies`; `deal_solver` solves by
`trees.cfr`, and `trees.values` measures. Whole pots of Byteskille (`byteskille`) are hands that
lead to one another. `solution` is what is kept, `text` and `pictures` show it, `export` takes it to
OpenSpiel.
"""
