"""A person at a table: in the terminal, or on a page of this machine.

`sitting` is the match, `advice` what the person can do and should do, `frames` what a page is shown
of a step. `terminal` is the conversation in the terminal; `online` is the table behind a page, and
`server` the addresses, on this machine's loopback alone. What is said lives with the games
(`kille_env.games.NAME.text` and `words`).
"""
