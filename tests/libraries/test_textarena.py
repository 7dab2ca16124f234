# pyright: reportMissingImports=false, reportMissingModuleSource=false
"""The recipe for TextArena, in an environment of its own: `make test-libraries`."""

import copy
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


def test_the_same_seed_is_the_same_match_and_leaves_the_global_generator_alone():
    state = random.getstate()
    made = [LLMObservationWrapper(KilleTextArena("knack")) for _ in range(2)]
    first, second = (_play(env, 4, 5) for env in made)
    assert first == second
    assert _play(made[0], 4, 6) != first
    assert random.getstate() == state


def test_a_copy_goes_on_by_itself():
    env = KilleTextArena("krypkille", episode="deal")
    env.reset(num_players=3, seed=1)
    twin = copy.deepcopy(env)
    env.step("1")
    assert twin.batch.seat[0] != env.batch.seat[0]
    for one in (env, twin):
        one.step("1")
    twin.step("1")
    assert env.batch.describe() == twin.batch.describe()


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


def test_after_a_readable_answer_errors_count_anew():
    env = KilleTextArena("kungsholmskille", episode="deal")
    env.reset(num_players=2, seed=1)
    for answer in ("knock", "stay", "discard", "discard"):
        assert env.step("hm")[0] is False
        assert env.step(answer)[0] is False


def test_what_cannot_be_played_is_refused():
    with pytest.raises(kille_env.errors.RulesError):
        KilleTextArena("knack", rules={"stake": 2}).reset(num_players=4)
    with pytest.raises(kille_env.errors.RulesError):
        KilleTextArena("knack").reset(num_players=12)
