"""A person at a table: in the terminal, or on a page of this machine.

`sitting` is the match, `advice` what the person can do and should do. `terminal` is the talk in the
terminal; `online` is the table behind a page, and `server` the addresses, on the machine's loopback
alone. `kille_env.pictures.frame` is what a page is shown of a step; what is said lives with the
games, in `words`.
"""
