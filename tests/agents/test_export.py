"""Own networks as policy folders: they answer as torch does, or are refused."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
import torch
from torch import nn

from env.players import decisions
from kille_agents import save_policy
from kille_agents.catalog import load_policy
from kille_agents.export import NAMES
from kille_env.core.floats import seat_layout
from kille_env.core.spec import width
from kille_env.errors import PolicyError
from kille_env.play.functions import FunctionPolicy
from kille_env.registry import Table, spec

GAME = spec("byteskille")
TABLE = Table.of("byteskille", 3)
F, A = width(GAME.observation(3)), GAME.num_actions


def perceptron(*between: nn.Module, inputs: int = F) -> nn.Sequential:
    torch.manual_seed(1)
    sizes = [inputs, *[12] * len(between), A]
    layers = [nn.Linear(*size) for size in pairwise(sizes)]
    pairs = zip(layers, (*between, nn.Identity()), strict=True)
    return nn.Sequential(*(part for pair in pairs for part in pair))


def kept(module: nn.Module, folder: Path, returns: str = "logits", reads: str = "float") -> Any:
    asked: Any = {"observation": reads, "returns": returns}
    save_policy(module, folder, "byteskille", 3, **asked)
    original = FunctionPolicy(module, **asked).at_table("byteskille", 3)
    return original, load_policy(folder, "byteskille", 3, TABLE.rules)


@pytest.mark.parametrize("name", NAMES)
def test_every_activation_answers_as_torch_does(name: str, tmp_path: Path) -> None:
    module = perceptron(getattr(nn, name)(), nn.Dropout(0.5), nn.Tanh())
    seen, mask = decisions("byteskille", 3, TABLE.rules, 8, 8)
    original, again = kept(module, tmp_path / "mine")
    found = again.probabilities(seen, mask)
    assert found == pytest.approx(original.probabilities(seen, mask), abs=1e-5)
    for row in range(0, len(seen), 7):  # whoever decides beside it
        assert (again.probabilities(seen[[row]], mask[[row]]) == found[row]).all()


@pytest.mark.parametrize(
    ("returns", "reads"), [("probabilities", "box"), ("values", "box"), ("logits", "seats")]
)
def test_what_a_module_reads_and_returns_is_kept(returns: str, reads: str, tmp_path: Path) -> None:
    module = perceptron(nn.ReLU(), inputs=seat_layout(GAME).size if reads == "seats" else F)
    module = nn.Sequential(module, nn.Softmax(dim=1)) if returns == "probabilities" else module
    seen, mask = decisions("byteskille", 3, TABLE.rules, 8, 8)
    original, again = kept(module, tmp_path, returns, reads)
    wanted = original.probabilities(seen, mask)
    assert again.probabilities(seen, mask) == pytest.approx(wanted, abs=1e-5)


class Own(nn.Module):
    """Does something between its layers that none of them says."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = perceptron(nn.ReLU())

    def forward(self, seen: Any) -> Any:
        return torch.sin(self.layers(seen))


def numbers(size: int) -> nn.Module:
    return nn.Sequential(nn.Linear(F, size), nn.Flatten())


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (Own, "does not return what its layers do"),
        (lambda: perceptron(nn.LeakyReLU(0.2)), r"LeakyReLU\(negative_slope=0.2\) is no layer"),
        (lambda: perceptron(nn.LayerNorm(12)), r"LayerNorm.* is no layer of a perceptron"),
        (lambda: nn.Sequential(nn.ReLU(), nn.Linear(F, A)), r"ReLU\(\) is no layer"),
        (lambda: numbers(A + 1), "expected"),
        (lambda: nn.Linear(F + 1, A), "fails for observations"),
    ],
)
def test_what_is_no_perceptron_is_refused(module: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=words):
        kept(module(), tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_a_table_and_a_way_of_asking_are_said(tmp_path: Path) -> None:
    module = perceptron(nn.ReLU())
    for call, words in (
        (lambda: save_policy(module, tmp_path, "byteskille", 3), "is no network"),
        (lambda: save_policy(lambda o, m: m, tmp_path, "byteskille", 3), "module:object"),
        (
            lambda: save_policy(module, tmp_path, observation="float", returns="logits"),
            "at which table",
        ),
    ):
        with pytest.raises(PolicyError, match=words):
            call()
    both = save_policy(module, tmp_path / "a", "byteskille", 3, observation="box", returns="logits")
    again = load_policy(both, "byteskille", 3, TABLE.rules)
    other = save_policy(again, tmp_path / "b")
    assert (other / "policy.json").read_bytes() == (both / "policy.json").read_bytes()
    with pytest.raises(PolicyError, match="2 seats instead of 3"):
        load_policy(both, "byteskille", 2, TABLE.rules)
