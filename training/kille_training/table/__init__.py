"""Play against players of the suite in the terminal or on a local page.

`sitting` is the match, `advice` the person's choices with hints, `terminal` the loop in the
terminal, `online` the table behind a page, and `server` its routes, on the loopback only.
`kille_env.pictures.frame` makes the frames of a page; all sentences come from the games' `words`.
"""
