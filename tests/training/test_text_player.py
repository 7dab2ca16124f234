"""The exact NashConv of a function from prompt to answer that follows a known rule."""

import re
import sys
import types

import numpy as np
import pytest

import kille_env
import kille_training as kt
from kille_agents import as_policy
from kille_env.adapters.text import TextPlayer
from kille_env.cards.pack import KILLE_PACK
from kille_env.errors import KilleError
from kille_env.registry import spec
from kille_training.evaluation.exact import largest_losses
from kille_training.solving.policies import nash_conv_of, strategies_of
from reference.scripts import script
from reference.trees import build_deal

RULES = {"preset": "wikipedia"}
ACTIONS = spec("byteskille").actions
NAMES = {name: rank for rank, name in enumerate(KILLE_PACK.words)}
LOW = 9


def by_rule(prompt):
    """Stand with a card from `LOW` on; swaps with a lower one where that is possible."""
    own = re.search(r"^  seat \d \(you\) +(.+)", prompt, re.MULTILINE)
    assert own is not None
    legal = re.findall(r"^\d+\. (\w+)", prompt, re.MULTILINE)
    name = own[1].split()[0]
    return "swap" if NAMES[name] < LOW and "swap" in legal else legal[0]


class Rule:
    """The same rule as a policy, by the position of an information set."""

    def strategies(self, deal):
        (stage,) = deal.stages
        rows = np.zeros(stage.tree.num_sequences)
        for number in range(stage.tree.num_infosets):
            seat = int(stage.tree.player[number])
            name = KILLE_PACK.word(int(stage.positions[number]["hand"][seat]))
            legal = [ACTIONS[action] for action in np.flatnonzero(stage.masks[number])]
            plays = "swap" if NAMES[name] < LOW and "swap" in legal else legal[0]
            rows[stage.tree.first[number] + legal.index(plays)] = 1.0
        return (rows,)


@pytest.fixture
def deal():
    return build_deal(2, RULES)


def test_its_nash_conv_is_that_of_the_rule_by_which_it_answers(deal):
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return by_rule(prompt)

    found = kt.nash_conv(TextPlayer(answer), num_players=2, rules=RULES)
    expected = nash_conv_of(Rule().strategies(deal), deal)
    assert found.policy == "answer"
    assert found.nash_conv == pytest.approx(expected.total, abs=1e-12)
    assert found.value == pytest.approx(expected.values.tolist(), abs=1e-12)
    assert found.nash_conv > 0.01
    assert len(prompts) == len(set(prompts)) == sum(deal.information_sets) == 323


def test_threads_ask_the_same(deal):
    alone, together = (TextPlayer(by_rule, parallel=threads) for threads in (1, 4))
    (one,), (other,) = strategies_of(alone, deal), strategies_of(together, deal)
    assert np.array_equal(one, other)


def test_it_is_told_the_rules_and_its_own_view_alone():
    prompts = []
    player = TextPlayer(lambda prompt: prompts.append(prompt) or "1", name="first")
    batch = kille_env.make_batch("knack", 2, 3, episode="deal", restart=False)
    batch.reset(seed=3)
    played = kt.evaluate(player, "knack", 3, baselines="uniform", deals=2)
    assert "first" in str(played) and as_policy(player) is player
    assert all(prompt.startswith("Knack is a Swedish card game.") for prompt in prompts)
    assert all("(you)" in prompt and "1. " in prompt for prompt in prompts)


def test_an_unreadable_answer_is_asked_again_and_then_an_error():
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return "Answer: 1" if "has no line" in prompt else "I would rather play chess."

    kt.evaluate(TextPlayer(answer), "byteskille", 2, baselines="uniform", deals=2, exact=False)
    assert prompts[1].startswith(prompts[0]) and "rather play chess" in prompts[1]
    never = TextPlayer(lambda prompt: "chess", name="never", attempts=2)
    with pytest.raises(KilleError, match=r"never named no legal action in 2 answers.*'chess'"):
        kt.evaluate(never, "byteskille", 2, baselines="uniform", deals=2, exact=False)
    with pytest.raises(KilleError, match="answered 1, expected a text"):
        kt.nash_conv(TextPlayer(lambda prompt: 1), num_players=2, rules=RULES)


def test_the_recipe_asks_a_client_and_keeps_its_answers(tmp_path, monkeypatch):
    asked = []

    class Client:
        def __init__(self, **options):
            assert options["max_retries"] > 1
            self.chat = self.completions = self

        def create(self, messages, **_):
            asked.append(messages[0]["content"])
            message = types.SimpleNamespace(content=by_rule(asked[-1]))
            return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)])

    monkeypatch.setitem(sys.modules, "openai", types.SimpleNamespace(OpenAI=Client))
    recipe = script("training/recipes/language_model.py")
    expected = kt.nash_conv(TextPlayer(by_rule), num_players=2, rules=RULES)
    for _ in range(2):
        found = kt.nash_conv(recipe.player("a/model", None, tmp_path), num_players=2, rules=RULES)
        assert found.policy == "a/model" and len(asked) == 323
        assert found.nash_conv == expected.nash_conv


def test_the_losses_sum_to_nash_conv_and_the_largest_come_first(deal):
    strategies = Rule().strategies(deal)
    found = largest_losses(strategies, deal, 10_000)
    assert sum(one.loss for one in found) == pytest.approx(
        nash_conv_of(strategies, deal).total, abs=1e-6
    )
    assert [one.loss for one in found] == sorted((one.loss for one in found), reverse=True)
    assert largest_losses(strategies, deal, 3) == found[:3]
    worst = found[0]
    assert worst.plays[worst.best] < 1 and 0 < worst.reach <= 1
    assert "(you)" in worst.seen and worst.best in worst.plays


def test_losses_of_a_deal_with_questions_sum_to_its_nash_conv():
    deal = build_deal(2, {"max_redeals": 2})
    assert len(deal.stages) == 3
    found = kt.evaluate(
        "uniform", num_players=2, rules={"max_redeals": 2}, deals=2, play="sampled", losses=100_000
    )
    assert found.exact is not None
    assert sum(one.loss for one in found.losses) == pytest.approx(
        found.exact[0].nash_conv, abs=1e-5
    )
    assert {one.granted for one in found.losses} == {0, 1, 2}


def test_other_searchers_are_still_refused():
    with pytest.raises(KilleError, match="searches"):
        kt.nash_conv("search", num_players=2)
