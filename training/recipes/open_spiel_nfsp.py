"""Neural fictitious self-play of OpenSpiel on the OpenSpiel form of a game.

Each seat has an agent that learns a best response by DQN, and its own average policy. OpenSpiel
plays one table at a time in Python, so this is slow and stays far from an equilibrium. Trap:
OpenSpiel's NFSP needs dm-tree, which it does not declare: `pip install dm-tree`. Written for
OpenSpiel 2.0.2.
"""

import argparse

import torch
from open_spiel.python import policy, rl_environment
from open_spiel.python.pytorch import nfsp

from kille_env import spec
from kille_env.adapters.open_spiel import load
from kille_training import evaluate


class Average(policy.Policy):
    """The average policies of the agents, each in its own seat."""

    def __init__(self, game, agents):
        super().__init__(game, list(range(len(agents))))
        self.agents = agents

    def action_probabilities(self, state, player_id=None):
        """Return the probability of each legal action."""
        seat, legal = state.current_player(), state.legal_actions()
        seen = {
            "info_state": {seat: state.information_state_tensor(seat)},
            "legal_actions": {seat: legal},
            "current_player": seat,
        }
        step = rl_environment.TimeStep(seen, None, None, rl_environment.StepType.MID)
        with self.agents[seat].temp_mode_as(nfsp.MODE.AVERAGE_POLICY):
            chances = self.agents[seat].step(step, is_evaluation=True).probs
        return {action: float(chances[action]) for action in legal}


def train(game: str = "byteskille", num_players: int = 3, decisions: int = 150_000, seed: int = 0):
    """Return the average policy."""
    torch.set_num_threads(1)
    environment = rl_environment.Environment(load(game, num_players))
    environment.seed(seed)
    size, actions = environment.game.information_state_tensor_size(), spec(game).num_actions
    agents = [
        nfsp.NFSP(
            seat, size, actions, [64, 64],
            reservoir_buffer_capacity=200_000, anticipatory_param=0.1, seed=seed + seat,
            optimizer_str="adam", rl_learning_rate=1e-3, sl_learning_rate=1e-3,
        )
        for seat in range(num_players)
    ]  # fmt: skip
    made = 0
    while made < decisions:
        step = environment.reset()
        while not step.last():
            action = agents[step.observations["current_player"]].step(step).action
            step, made = environment.step([action]), made + 1
        for agent in agents:
            agent.step(step)
    return Average(environment.game, agents)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
