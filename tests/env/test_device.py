"""Tables on a GPU: the same matches as on the CPU, and clear errors.

Without a GPU every kernel is still translated for one, and 32 tables are played in the simulator.
"""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kille_env
from env.device_tables import play_the_same
from env.rule_tables import Space, by_table, rule_sets, seats_of
from kille_env.errors import IllegalActionError, KilleError, RulesError

pytestmark = pytest.mark.compiled
pytest.importorskip("numba_cuda", reason="needs the extra gpu", exc_type=ImportError)
cuda = pytest.importorskip("numba.cuda")

needs_gpu = pytest.mark.skipif(not cuda.is_available(), reason="needs an NVIDIA GPU")
CAPABILITY = (9, 0)


def gpu(test):
    return pytest.mark.gpu(needs_gpu(test))


# Without a GPU


def signatures(game):
    """The types that each kernel of a game is called with."""
    from numba.cuda import types
    from numba.cuda.np.numpy_support import from_dtype  # pyright: ignore

    def array(kind, dimensions=1):
        return types.Array(kind, dimensions, "C")

    words = array(types.uint64)
    whole, small, flag = array(types.int64), array(types.int8), array(types.boolean)
    tables, rules = array(from_dtype(game.spec.table)), array(from_dtype(game.spec.rules_dtype))
    seen, masks = array(types.uint8, 2), array(types.int8, 2)
    shown = small, seen, masks, array(types.float64, 2), flag, flag
    return {
        "fill": (tables, tables, array(types.int32)),
        "seed": (tables, words, whole, flag, types.int64),
        "begin": (tables, rules, small, flag, *shown, types.boolean),
        "check": (small, masks, whole, flag, whole),
        "step": (words, words, words, rules, whole, *shown, types.boolean, whole),
        "observe": (tables, rules, small, seen),
        "tell": (tables, small, seen, seen, seen),
        "choose": (masks, types.uint64, whole),
    }


GAMES = [  # the gate takes the game with the largest kernels
    pytest.param(name, marks=() if name == "byteskille" else pytest.mark.slow)
    for name in kille_env.list_games()
]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    "kernel",
    [
        *("step", "check", "observe", "choose", "seed", "fill", "tell"),
        pytest.param("begin", marks=pytest.mark.slow),  # `step` begins matches, too
    ],
)
def test_kernels_can_be_translated_for_a_gpu(game, kernel, monkeypatch):
    from numba.cuda import compiler, dispatcher, types  # pyright: ignore

    from kille_env.core.device import kernels_of

    monkeypatch.setattr(
        dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=CAPABILITY)
    )
    loaded: Any = kille_env.load_game(game)
    function = kernels_of(loaded)[kernel].py_func
    arguments = signatures(loaded)[kernel]
    if has_compiler():
        assembly, _ = compiler.compile_ptx(function, arguments, cc=CAPABILITY)  # pyright: ignore
        assert ".target sm_90" in assembly
    elif kernel == "step":  # all but the last stage needs nothing of CUDA's
        result = compiler.compile_cuda(function, types.void, arguments, cc=CAPABILITY)
        assert result.signature.args == arguments
    else:
        pytest.skip("needs the compiler of CUDA, which the extra gpu brings")


def has_compiler():
    from cuda.pathfinder import (  # pyright: ignore[reportMissingImports]
        DynamicLibNotFoundError,
        load_nvidia_dynamic_lib,
    )

    try:
        return all(load_nvidia_dynamic_lib(name) for name in ("nvvm", "nvrtc"))
    except DynamicLibNotFoundError:
        return False


@pytest.mark.parametrize("game", GAMES)
def test_the_simulator_plays_the_same_matches(game):
    environment = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("device_tables.py")), game],
        capture_output=True,
        text=True,
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert "action 999 is not legal now. Legal: " in done.stdout


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_an_error_says_so():
    with pytest.raises(KilleError, match="device='cpu'"):
        kille_env.make_batch("knack", device="cuda")


def test_tables_too_large_for_what_threads_share_are_refused(monkeypatch):
    from kille_env.core import device

    monkeypatch.setattr(device, "SHARED", 1000)
    monkeypatch.setattr(device.cuda, "is_available", lambda: True)
    with pytest.raises(KilleError, match=r"a table of knack .* takes [\d,]+ bytes, .* 1,000 "):
        kille_env.make_batch("knack", device="cuda")


def test_devices_are_checked():
    with pytest.raises(RulesError, match="device is 'gpu', expected 'cpu' or 'cuda'"):
        kille_env.make_batch("knack", device="gpu")


# With one


@gpu
@pytest.mark.timeout(600)
@pytest.mark.parametrize("episode", ["deal", "match"])
@pytest.mark.parametrize("most", [False, True], ids=["fewest", "most"])
def test_matches_are_those_of_the_cpu(game, most, episode):
    spec = kille_env.spec(game)
    for preset in spec.presets:
        most_seats = spec.most_players(spec.resolve(preset))
        seats = most_seats if most else spec.min_players
        play_the_same(game, 512, 120, seats, rules=preset, episode=episode)
    seats = spec.max_players if most else spec.min_players
    play_the_same(game, 100, 40, seats, episode=episode, restart=False)


@gpu
def test_tables_with_rules_of_their_own_play_as_on_the_cpu(game):
    for rules in (by_table(game, 512), Space(game, rule_sets(game))):
        play_the_same(game, 512, 120, seats_of(game), rules=rules, observe_rules=True)


@gpu
def test_seeds_are_those_of_the_cpu(game):
    on_gpu, on_cpu = (kille_env.make_batch(game, 5, seed=3, device=d) for d in ("cuda", "cpu"))
    for seed in (None, 8, [1, 2, 3, 4, 2**64 - 1]):
        on_gpu.reset(seed)
        on_cpu.reset(seed)
        assert (on_gpu.to_cpu().observation == on_cpu.observation).all()
        for seats in (0, np.arange(5) % on_cpu.num_players):
            assert (on_gpu.observe(seats).copy_to_host() == on_cpu.observe(seats)).all()


@gpu
def test_an_illegal_action_is_reported_when_asked_for_and_nothing_is_played():
    batch, actions = play_the_same("knack", 1000, 3)
    before = batch.to_cpu().tables.tobytes()
    given = actions.copy_to_host()
    given[[700, 901]] = 99, -5
    batch.step(cuda.to_device(given))
    batch.step(actions)  # legal, but too late
    with pytest.raises(IllegalActionError, match=r"table 700, seat \d: action 99 is not legal"):
        batch.check()
    assert batch.to_cpu().tables.tobytes() == before
    batch.step(actions)
    assert batch.to_cpu().tables.tobytes() != before
    batch.step(cuda.to_device(np.full(1000, 99)))
    with pytest.raises(IllegalActionError, match="table 0"):
        for _ in range(300):
            batch.step(actions)


@gpu
def test_actions_of_other_kinds_are_refused():
    batch = kille_env.make_batch("knack", 4, device="cuda")
    with pytest.raises(KilleError, match="reset"):
        batch.step(cuda.to_device(np.zeros(4, np.int64)))
    batch.reset()
    for wrong in (
        np.zeros(4, np.int64),
        [0] * 4,
        cuda.to_device(np.zeros(4, np.int32)),
        cuda.to_device(np.zeros(5, np.int64)),
        cuda.to_device(np.zeros((4, 2), np.int64))[:, 0],
    ):
        with pytest.raises(IllegalActionError, match=r"actions are int64 \[4\]"):
            batch.step(wrong)


@gpu
def test_torch_shares_the_memory():
    torch = pytest.importorskip("torch")
    batch = kille_env.make_batch("byteskille", 64, seed=0, device="cuda")
    batch.reset()
    masks, seen = (torch.as_tensor(part, device="cuda") for part in (batch.mask, batch.observation))
    assert masks.data_ptr() == batch.mask.__cuda_array_interface__["data"][0]
    before = seen.clone()
    batch.step(masks.argmax(1))
    assert (seen != before).any()
    assert (seen.cpu().numpy() == batch.to_cpu().observation).all()


@gpu
@pytest.mark.parametrize("kind", ["float", "seats", "box"])
def test_collected_decisions_are_those_of_the_cpu(game, kind):
    torch = pytest.importorskip("torch")

    def uniform(observation, mask):
        legal = torch.as_tensor(mask).double()
        return legal / legal.sum(1, keepdim=True)

    on_gpu, on_cpu = (
        kille_env.collect(
            kille_env.make_batch(game, 300, seed=4, device=device), uniform, observation=kind
        )
        for device in ("cuda", "cpu")
    )
    for name, theirs in on_cpu._asdict().items():
        ours = getattr(on_gpu, name).cpu().numpy()
        assert ours.dtype == theirs.dtype
        if name == "log_probability":
            np.testing.assert_allclose(ours, theirs, rtol=1e-14)
        else:
            assert (ours == theirs).all(), name
    values = np.random.default_rng(0).normal(size=len(on_cpu.action))
    theirs = on_cpu.advantages(values, gamma=0.9, gae_lambda=0.8)
    ours = on_gpu.advantages(torch.as_tensor(values, device="cuda"), gamma=0.9, gae_lambda=0.8)
    np.testing.assert_allclose(ours.cpu().numpy(), theirs, rtol=1e-12, atol=1e-12)


@gpu
def test_a_policy_on_a_gpu_is_a_function_that_returns_distributions():
    torch = pytest.importorskip("torch")
    batch = kille_env.make_batch("knack", 8, device="cuda")
    with pytest.raises(KilleError, match="function of tensors"):
        kille_env.collect(batch, "rule_of_thumb")
    with pytest.raises(KilleError, match="distribution over the legal actions"):
        kille_env.collect(batch, lambda observation, mask: torch.ones_like(mask))
    with pytest.raises(KilleError, match="device='cpu'"):
        kille_env.Collector(batch, "uniform")
