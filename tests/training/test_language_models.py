"""The exact NashConv of a language model, with a service that answers by a known rule."""

import json
import re

import numpy as np
import pytest

import kille_training as kt
from env.language_model_server import serving
from kille_agents.llm import LanguageModel
from kille_agents.llm.player import LimitError
from kille_env.cards.pack import KILLE_PACK
from kille_env.errors import KilleError
from kille_env.registry import spec
from kille_training.evaluation.exact import largest_losses
from kille_training.solving.policies import nash_conv_of, strategies_of
from reference.trees import build_deal

RULES = {"preset": "wikipedia"}
ACTIONS = spec("byteskille").actions
NAMES = {name: rank for rank, name in enumerate(KILLE_PACK.words)}
LOW = 9


def by_rule(messages):
    """Stands with a card from `LOW` on; swaps with a lower one where that is possible."""
    own = re.search(r"^  seat \d \(you\) +(.+)", messages[1]["content"], re.MULTILINE)
    assert own is not None
    legal = re.findall(r"^\d+\. (\w+)", messages[1]["content"], re.MULTILINE)
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


@pytest.fixture
def model(tmp_path):
    def make(service, **changes):
        return LanguageModel("m", url=service.url, folder=str(tmp_path / "kept"), **changes)

    return make


def test_its_nash_conv_is_that_of_the_rule_by_which_it_answers(deal, model):
    with serving(by_rule) as service:
        found = kt.nash_conv(model(service), num_players=2, rules=RULES)
    expected = nash_conv_of(Rule().strategies(deal), deal)
    assert found.policy == "llm:m"
    assert found.nash_conv == pytest.approx(expected.total, abs=1e-12)
    assert found.value == pytest.approx(expected.values.tolist(), abs=1e-12)
    assert found.nash_conv > 0.01
    assert len(service.requests) == sum(deal.information_sets) == 323


def test_a_measurement_resumes_where_a_limit_ended_it(deal, model):
    with serving(by_rule) as service:
        with pytest.raises(LimitError, match="run the same command again"):
            kt.nash_conv(model(service, calls=100), num_players=2, rules=RULES)
        asked = len(service.requests)
        kt.nash_conv(model(service), num_players=2, rules=RULES)
        assert asked == 100 and len(service.requests) == 323


def test_several_asks_are_measured_as_a_mixture(deal, model):
    def either(messages):
        return "stand" if len(service.requests) % 2 else "swap"

    with serving(either) as service:
        (mixed,) = strategies_of(model(service, asks=2, parallel=1), deal)
    assert set(np.unique(mixed)) <= {0.0, 0.5, 1.0} and 0.5 in mixed


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


def test_the_command_measures_a_model(kille, tmp_path, monkeypatch):
    words = (
        "evaluate", "llm:m", "--players", "2", "--rules", "wikipedia", "--rules", "episode=deal",
        "--deals", "2", "--baselines", "uniform",
    )  # fmt: skip
    monkeypatch.setenv("KILLE_LLM_FOLDER", str(tmp_path / "kept"))
    with serving(by_rule) as service:
        monkeypatch.setenv("KILLE_LLM_URL", service.url)
        shown = kille(*words).out
        asked = len(service.requests)
        found = json.loads(kille(*words, "--json").out)
    assert "NashConv" in shown and "323 answers" in shown
    assert asked == len(service.requests) == 323
    assert found["answers"]["uniform"] == 0


def test_other_searchers_are_still_refused():
    with pytest.raises(KilleError, match="looks ahead"):
        kt.nash_conv("search", num_players=2)
