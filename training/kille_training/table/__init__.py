"""A person at a table: in the terminal, or on a page of this machine.

`sitting` is the match, and `advice` the person's choices with hints. `terminal` is the loop in the
terminal; `online` is the table behind a page, and `server` its addresses, on the machine's loopback
alone. `kille_env.pictures.frame` makes the frames of a page; all sentences come from the games'
`words`.
"""
