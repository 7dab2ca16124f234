"""The web table: a server on this machine, its pages, and who may see and do what.

A request passes the `guard` first. `app` says which address leads where, `sessions` knows browsers,
`hall` the tables, `orders` what a new one may be. A `tables.Table` is where people and players
meet; `states` is the one way out for what a browser may see of it; `serving` has socket and server.
"""

from importlib import import_module

from kille_env.extras import EXTRAS, missing

try:
    for _name in EXTRAS["web"].values():
        import_module(_name)
except ModuleNotFoundError as error:
    raise missing(error, "web") from error
