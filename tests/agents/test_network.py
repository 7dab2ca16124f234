"""The exported network: the same as torch's, and refused where it does not belong."""

import hashlib
import json

import numpy as np
import pytest

from env.players import decisions as shown
from env.players import network_metadata, network_weights
from kille_agents.catalog import load_policy
from kille_agents.network import NetworkPolicy, save_network
from kille_env.errors import PolicyError
from kille_env.registry import spec

GAME = spec("byteskille")
RULES = GAME.resolve(episode="deal")


def metadata(**changes):
    return network_metadata("byteskille", 3, RULES, **changes)


@pytest.fixture
def policy():
    return NetworkPolicy(metadata(), network_weights(metadata()), "mine")


@pytest.fixture
def decisions():
    return shown("byteskille", 3, RULES, 300, 1)


def test_written_and_read_again_it_is_the_same(tmp_path, policy, decisions):
    save_network(policy, tmp_path / "mine")
    files = sorted((tmp_path / "mine").iterdir())
    assert [file.name for file in files] == ["policy.json", "policy.safetensors"]
    for path in (tmp_path / "mine", *files):
        again = load_policy(path, "byteskille", 3, RULES)
        assert again.name == "mine"
        assert np.array_equal(again.probabilities(*decisions), policy.probabilities(*decisions))


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_rows_do_not_depend_on_the_batch_to_the_last_bit(decisions, activation):
    made_for = metadata(layers=(64, 64), activation=activation)
    policy = NetworkPolicy(made_for, network_weights(made_for), "mine")
    observation, mask = decisions
    whole = policy.probabilities(observation, mask)
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 5, 16, 33, 100, 257):
        rows = rng.permutation(len(mask))[:size]
        assert (policy.probabilities(observation[rows], mask[rows]) == whole[rows]).all()


def test_another_version_or_game_is_refused(tmp_path):
    for changes, difference in (
        ({"game_version": 99}, "instead of 99"),
        ({"game": "krypkille"}, "krypkille has no preset 'svensk'"),
        ({"observation_width": 7}, "reads 7 features"),
    ):
        made_for = metadata(**changes)
        save_network(NetworkPolicy(made_for, network_weights(made_for)), tmp_path)
        with pytest.raises(PolicyError, match=difference):
            load_policy(tmp_path, "byteskille", 3, RULES)


def test_a_switch_that_is_younger_than_a_policy_has_its_default(tmp_path):
    rules = dict(RULES.as_dict())
    younger = rules.pop("max_redeals")
    made_for = metadata(rules=rules)
    save_network(NetworkPolicy(made_for, network_weights(made_for)), tmp_path)
    load_policy(tmp_path, "byteskille", 3, RULES)
    other = spec("byteskille").resolve({"max_redeals": younger + 1}, episode=RULES["episode"])
    with pytest.raises(PolicyError, match=f"max_redeals {younger + 1} instead of {younger}"):
        load_policy(tmp_path, "byteskille", 3, other)


def test_a_preset_with_another_name_and_the_same_switches_fits(tmp_path, policy):
    save_network(policy, tmp_path)
    switches = {key: value for key, value in RULES.as_dict().items() if key != "preset"}
    load_policy(tmp_path, "byteskille", 3, GAME.resolve({**switches, "preset": "wikipedia"}))


def test_broken_files_are_refused(tmp_path, policy):
    save_network(policy, tmp_path)
    weights, specification = tmp_path / "policy.safetensors", tmp_path / "policy.json"
    data, content = weights.read_bytes(), json.loads(specification.read_text())
    weights.write_bytes(data[:-5])
    with pytest.raises(PolicyError, match="replaced or cut off"):
        load_policy(tmp_path, "byteskille", 3, RULES)
    weights.write_bytes(data)
    for changes in (
        {"activation": "swish"},
        {"activation": "relu,tanh,relu"},
        {"returns": "odds"},
        {"rules": 5},
        {"game": ["byteskille"]},
        {"num_players": True},
        {"layers": "ab"},
        {"layers": [0]},
        {"made": None},
        {"episodes": [["deal"]], "table_sizes": [3], "near_seats": 1},
        {"layers": [-1] * 10_000},
    ):
        specification.write_text(json.dumps({**content, **changes}))
        with pytest.raises(PolicyError, match=next(iter(changes))):
            load_policy(tmp_path, "byteskille", 3, RULES)
    for broken in ("{", "[]", "[" * 9_000, "9" * 9_000, json.dumps({"format": "kille-policy 2"})):
        specification.write_text(broken)
        with pytest.raises(PolicyError, match="no policy's specification"):
            load_policy(tmp_path, "byteskille", 3, RULES)
    specification.unlink()
    with pytest.raises(PolicyError, match=r"holds no policy\.json"):
        load_policy(tmp_path, "byteskille", 3, RULES)


def test_weights_that_are_no_numbers_or_of_another_shape_are_refused():
    for key, value, message in (
        ("bias.1", np.full(8, np.nan, np.float32), "not a number"),
        ("bias.1", np.zeros(9, np.float32), r"float32 \(8,\)"),
        ("bias.1", np.zeros(8), "float64"),
        ("bias.9", np.zeros(8, np.float32), "its specification needs"),
        ("x" * 9_000, np.zeros(8, np.float32), "^.{,600}$"),
    ):
        with pytest.raises(PolicyError, match=message):
            NetworkPolicy(metadata(), {**network_weights(metadata()), key: value})


def test_weights_of_a_type_that_numpy_lacks_are_refused(tmp_path, policy):
    save_network(policy, tmp_path)
    header = json.dumps({"x": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    data = len(header).to_bytes(8, "little") + header + bytes(2)
    specification = tmp_path / "policy.json"
    content = json.loads(specification.read_text())
    content["weights_sha256"] = hashlib.sha256(data).hexdigest()
    specification.write_text(json.dumps(content))
    (tmp_path / "policy.safetensors").write_bytes(data)
    with pytest.raises(PolicyError, match=r"cannot be read as arrays of NumPy.*BF16"):
        load_policy(tmp_path, "byteskille", 3, RULES)


def test_a_batch_of_another_shape_or_without_a_legal_action_is_refused(policy, decisions):
    observation, mask = decisions
    with pytest.raises(PolicyError, match="made for another table"):
        policy.probabilities(observation[:, 1:], mask)
    with pytest.raises(PolicyError, match="non-finite logits for every legal action"):
        policy.probabilities(observation[:1], mask[:1] * 0)


def test_a_file_beside_a_policy_is_not_the_policy(tmp_path, policy):
    save_network(policy, tmp_path)
    for name in ("report.html", "best.safetensors", "model.json"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(PolicyError, match=rf"{name} is no policy; name a folder with"):
            load_policy(tmp_path / name, "byteskille", 3, RULES)
