"""RLCard: card games in Python."""

import rlcard

from speed.choices import chooser
from speed.peers.work import LOOP, Play, Work, clocked

DISTRIBUTION = "rlcard"


def _loop() -> Play:
    env, choose = rlcard.make("leduc-holdem", config={"seed": 0}), chooser()

    def play() -> int:
        decisions = 0
        while decisions < 1000:
            state, _ = env.reset()
            while not env.is_over():
                state, _ = env.step(choose(list(state["legal_actions"])))
                decisions += 1
        return decisions

    return clocked(play)


WORKS = (Work(LOOP, "Leduc, `Env`", "choice, `step` with observation, new games", _loop),)
