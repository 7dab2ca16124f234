# pyright: reportMissingImports=false, reportMissingModuleSource=false
"""The recipe for TextArena, in an environment of its own: `make test-libraries`."""

import random
import re

import pytest

import kille_env
from reference.scripts import script

pytest.importorskip("textarena")
from textarena.wrappers import (
    GameMessagesAndCurrentBoardObservationWrapper,
    LLMObservationWrapper,
)

KilleTextArena = script("training/recipes/textarena_match.py").KilleTextArena
WRAPPERS = LLMObservationWrapper, GameMessagesAndCurrentBoardObservationWrapper


def _play(env, seats, seed):
    """Plays legal answers that are drawn from the numbers in the prompts."""
    env.reset(num_players=seats, seed=seed)
    rng, done = random.Random(seed), False
    while not done:
        _, observation = env.get_observation()
        assert isinstance(observation, str)
        numbers = re.findall(r"^(\d+)\. ", observation.rpartition("Your legal actions:")[2], re.M)
        done, info = env.step(rng.choice(numbers))
        assert isinstance(done, bool) and isinstance(info, dict)
    return env.close()


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("game", kille_env.list_games())
def test_every_game_is_played_to_its_end(game, wrapper):
    spec = kille_env.spec(game)
    for seats in (2, 3, spec.max_players):
        for episode in ("deal", "match"):
            rules = {"max_deals": 4} if "max_deals" in {s.name for s in spec.switches} else {}
            env = wrapper(KilleTextArena(game, episode=episode, rules=rules))
            rewards, info = _play(env, seats, seats)
            assert sorted(rewards) == sorted(info) == list(range(seats))
            assert not any(told["invalid_move"] for told in info.values())
            if spec.zero_sum and not env.batch.tables[0]["left_on_table"]:
                assert abs(sum(rewards.values())) < 1e-6


def test_players_are_told_what_their_seats_may_know():
    env = KilleTextArena("byteskille", episode="deal")
    env.reset(num_players=3, seed=2)
    names = [env.batch.game.spec.pack.name(card) for card in env.batch.tables[0]["dealt"][:3]]
    assert len(set(names)) == 3
    messages = {seat: env.state.observations[seat] for seat in range(3)}
    for seat, told in messages.items():
        after_rules = "\n".join(text for _, text, kind in told[1:])
        assert names[seat] in after_rules
        assert not any(name in after_rules for name in names if name != names[seat])
        assert told[0][1].startswith(f"Seat {seat}")
    player, _ = env.get_observation()
    env.step(f"I keep my {names[player]}.\nAnswer: stand")
    for seat in set(range(3)) - {player}:
        assert not any(names[player] in text for _, text, _ in env.state.observations[seat][1:])


def test_a_second_unreadable_answer_ends_the_match():
    env = LLMObservationWrapper(KilleTextArena("byteskille", episode="deal"))
    env.reset(num_players=3, seed=3)
    player, _ = env.get_observation()
    done, _ = env.step("I cannot say.")
    assert not done
    again, told = env.get_observation()
    assert again == player and "Your answer has no line" in told
    done, _ = env.step("fold")
    assert done
    rewards, info = env.close()
    least = -kille_env.make_batch("byteskille", episode="deal").rules.number("stake")
    assert rewards.pop(player) == least - 1
    assert set(rewards.values()) == {0.0}
    assert [seat for seat, told in info.items() if told["invalid_move"]] == [player]
