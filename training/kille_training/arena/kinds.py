"""Kinds of tournaments, by the words that settings and commands use."""

from typing import Literal, get_args

Format = Literal["round_robin", "gauntlet", "swiss", "random"]
Fill = Literal["distinct", "copies"]
Bots = Literal["none", "train", "held_out", "all"]
Executor = Literal["local", "ray"]
EXECUTORS = get_args(Executor)
NONE = "none"
