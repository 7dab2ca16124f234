"""No hand has more decisions than its game announces, however it is played."""

import numpy as np
import pytest

import kille_env

TABLES, STEPS = 40, 80
SEATS = (2, 3, 4, 7)
CASES = [
    (game, preset, seats)
    for game, spec in ((game, kille_env.spec(game)) for game in kille_env.list_games())
    for preset in spec.presets
    for seats in sorted({min(seats, spec.most_players(spec.resolve(preset))) for seats in SEATS})
]


@pytest.mark.compiled
@pytest.mark.parametrize(("game", "preset", "seats"), CASES)
def test_no_hand_is_longer_than_announced_whichever_action_is_preferred(game, preset, seats):
    rules = {"preset": preset, "episode": "deal"}
    batch = kille_env.make_batch(game, TABLES, seats, rules=rules, seed=1)
    rng = np.random.default_rng(1)
    most, actions = batch.spec.max_decisions(batch.rules, seats), batch.spec.num_actions
    longest = 0
    for preferred in range(min(actions, 10)):  # each action, then play at random
        batch.reset()
        decisions = np.zeros(TABLES, dtype=np.int64)
        for _ in range(STEPS):
            hands = batch.tables[["matches", "deals"]].copy()
            worth = rng.random(batch.mask.shape) + 3 * (np.arange(actions) == preferred)
            batch.step(np.where(batch.mask > 0, worth, -1).argmax(axis=1))
            decisions += 1
            longest = max(longest, int(decisions.max()))
            decisions[hands != batch.tables[["matches", "deals"]]] = 0
    assert seats <= longest <= most
