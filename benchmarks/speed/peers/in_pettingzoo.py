"""PettingZoo's own classic games."""

from pettingzoo.classic import leduc_holdem_v4

from speed.peers.aec import turns
from speed.peers.work import AEC, Play, Work

DISTRIBUTION = "pettingzoo"


def _aec() -> Play:
    env = leduc_holdem_v4.env()
    env.reset(seed=0)
    return turns(env, lambda seen, info: seen["action_mask"])


WORKS = (Work(AEC, "Leduc, AEC", "`last`, choice, `step`; not `reset`", _aec),)
