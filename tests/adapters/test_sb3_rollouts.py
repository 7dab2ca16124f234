"""The credit of each seat: its decisions are a trajectory of their own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from gymnasium import spaces  # noqa: E402
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize  # noqa: E402

import kille_env  # noqa: E402
from adapters.sb3_tables import learner, self_play  # noqa: E402
from adapters.spies import RULES, random_legal  # noqa: E402
from kille_env.adapters.sb3 import Played, SelfPlayVecEnv  # noqa: E402
from kille_env.adapters.sb3_rollouts import SeatBuffer  # noqa: E402
from kille_env.errors import KilleError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")


def buffer_for(venv: Any, n_steps: int, **options: Any) -> SeatBuffer:
    spaces, size = (venv.observation_space, venv.action_space), venv.num_envs
    return SeatBuffer(n_steps, *spaces, "cpu", n_envs=size, **options)


class Ledger:
    """The slow twin of the buffer: a list of decisions for each (table, seat)."""

    def __init__(self) -> None:
        self.open: dict[tuple[int, int], list[dict[str, Any]]] = {}
        self.before: dict[tuple[int, int], float] = {}
        self.closed: list[list[dict[str, Any]]] = []

    def add(self, table: int, seat: int, name: int, rollout: int, value: float) -> None:
        stream = self.open.setdefault((table, seat), [])
        due = self.before.pop((table, seat), 0.0)
        stream.append({"name": name, "rollout": rollout, "value": value, "reward": due})

    def pay(self, table: int, rewards: np.ndarray) -> None:
        for seat, reward in enumerate(rewards):
            stream = self.open.get((table, seat))
            if stream:
                stream[-1]["reward"] += reward
            else:
                self.before[table, seat] = self.before.get((table, seat), 0.0) + reward

    def end(self, table: int, num_players: int) -> None:
        for seat in range(num_players):
            self.before.pop((table, seat), None)
            stream = self.open.pop((table, seat), None)
            if stream:
                self.closed.append(stream)

    def of_rollout(self, rollout: int, gamma: float, lam: float) -> dict[int, tuple[float, float]]:
        """Return reward and advantage of the decisions that were completed in a rollout."""
        found: dict[int, tuple[float, float]] = {}
        streams = [(s, True) for s in self.closed] + [(s, False) for s in self.open.values()]
        for stream, ended in streams:
            advantage = 0.0
            for at in reversed(range(len(stream))):
                decision = stream[at]
                last = at + 1 == len(stream)
                if last and not ended:
                    continue  # open
                ahead = 0.0 if last else stream[at + 1]["value"]
                if not last and stream[at + 1].get("done_in") is None:
                    advantage = 0.0  # the next one is open: only its value is known
                decision.setdefault("done_in", rollout)
                if decision["done_in"] < rollout:
                    continue
                delta = decision["reward"] + gamma * ahead - decision["value"]
                advantage = delta + gamma * lam * (0.0 if last else advantage)
                found[decision["name"]] = (decision["reward"], advantage)
        self.closed = []
        return found


@pytest.mark.parametrize(("players", "rules"), RULES)
def test_every_stream_is_credited_as_the_tables_paid(
    players: int, rules: dict[str, Any], scale: Callable[..., int]
) -> None:
    tables, n_steps, gamma, lam = scale(24, 3), scale(20, 12), 0.97, 0.9
    venv = self_play(tables, players, rules=rules, observation="box")
    batch = kille_env.make_batch("byteskille", tables, players, rules=rules, seed=5)
    buffer = buffer_for(venv, n_steps, gamma=gamma, gae_lambda=lam)
    ledger, rng = Ledger(), np.random.default_rng(1)
    observation = venv.reset()
    batch.reset()
    paid, ended, names = np.zeros((tables, players)), 0, 0
    for rollout in range(scale(8, 3)):
        buffer.begin(venv)
        for _ in range(n_steps):
            mask = venv.action_masks()
            assert np.array_equal(observation, batch.observation)
            assert np.array_equal(mask, batch.mask)
            actions, values = random_legal(mask, rng), rng.random(tables).astype(np.float32)
            for i in range(tables):
                ledger.add(i, int(batch.seat[i]), names + i, rollout, float(values[i]))
            batch.step(actions)
            for i in range(tables):
                ledger.pay(i, batch.reward[i])
                paid[i] += batch.reward[i]
                if batch.terminated[i] or batch.truncated[i]:
                    ledger.end(i, players)
            played = venv.play(actions)
            dones, infos = played.ended, played.infos
            assert np.array_equal(dones, batch.terminated | batch.truncated)
            for i in np.flatnonzero(dones):
                assert infos[i]["truncated"] == batch.truncated[i]
                assert infos[i]["returns"] == pytest.approx(paid[i])
                paid[i] = 0.0
            ended += dones.sum()
            buffer.record(
                played,
                observations=observation,
                actions=actions,
                values=values,
                log_probs=np.arange(names, names + tables),
                action_masks=mask,
            )
            observation, names = venv.observe(), names + tables
        buffer.complete()
        expected = ledger.of_rollout(rollout, gamma, lam)
        got = dict(
            zip(
                buffer.log_probs.astype(int).tolist(),
                zip(buffer.rewards.tolist(), buffer.advantages.tolist(), strict=True),
                strict=True,
            )
        )
        assert got.keys() == expected.keys()
        for name, (reward, advantage) in expected.items():
            assert got[name][0] == pytest.approx(reward, abs=1e-5)
            assert got[name][1] == pytest.approx(advantage, abs=1e-4)
        given = sum(len(part.advantages) for part in buffer.get(32))
        assert given == len(expected)
    assert ended


class Source:
    """One table whose decisions are scripted: seat, rewards of all, done."""

    num_envs, num_players = 1, 2
    observation_space = spaces.Box(0, 255, (1,), np.uint8)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.moves = 0

    def play(self, seat: int, rewards: list[float], done: bool) -> Played:
        self.moves += 1
        return Played(np.array([seat]), np.array([rewards], dtype=float), np.array([done]), [{}])


Script = list[tuple[int, list[float], bool]]


def fill(buffer: SeatBuffer, source: Any, steps: Script, values: list[float]) -> None:
    buffer.begin(source)
    for number, (step, value) in enumerate(zip(steps, values, strict=True)):
        one = np.array([value])
        buffer.record(
            source.play(*step),
            observations=np.full((1, 1), number, dtype=np.uint8),
            actions=np.zeros(1), values=one, log_probs=one, action_masks=np.ones((1, 2)),
        )  # fmt: skip
    buffer.complete()


def script_buffer() -> tuple[SeatBuffer, Any]:
    source = Source()
    return buffer_for(source, 4, gamma=0.5, gae_lambda=0.5), source


def test_advantages_by_hand() -> None:
    buffer, source = script_buffer()
    # Two seats pay an ante of 1 with the first step. Values are told with the decisions, and the
    # log probabilities repeat them, as names.
    first: Script = [
        (0, [-1, -1], False),
        (1, [0, 0], False),
        (0, [0, 0], False),
        (1, [0, 0], False),
    ]
    fill(buffer, source, first, [1.0, 2.0, 0.5, 1.5])
    assert buffer.log_probs.tolist() == [1.0, 2.0]  # the other two are open
    # seat 0: -1 + 0.5 * 0.5 - 1; seat 1's ante counts with its first decision: -1 + 0.5 * 1.5 - 2
    assert buffer.rewards.tolist() == [-1.0, -1.0]
    assert buffer.advantages.tolist() == [-1.75, -2.25]
    assert buffer.returns.tolist() == [-0.75, -0.25]

    second: Script = [
        (0, [0, 0], False),
        (1, [4, -2], True),
        (1, [1, 0], False),
        (1, [0, 2], False),
    ]
    fill(buffer, source, second, [3.0, 1.0, 0.25, 0.75])
    assert buffer.log_probs.tolist() == [0.5, 1.5, 3.0, 1.0, 0.25]
    # carried over: 0.5 -> 3.0 and 1.5 -> 1.0; the match ends: 4 for seat 0, -2 for seat 1.
    assert buffer.rewards.tolist() == [0.0, 0.0, 4.0, -2.0, 0.0]
    at_end = [4 - 3.0, -2 - 1.0]
    carried = [0 + 0.5 * 3.0 - 0.5 + 0.25 * at_end[0], 0 + 0.5 * 1.0 - 1.5 + 0.25 * at_end[1]]
    assert buffer.advantages.tolist() == [*carried, *at_end, 0 + 0.5 * 0.75 - 0.25]

    # Seat 0 has not acted in the second match: its 1 is nobody's decision. The 2 of seat 1 was
    # carried over with the decision that earned it.
    third: Script = [(1, [-1, 1], True), (0, [5, 0], True), (1, [0, 7], True), (0, [0, 0], False)]
    fill(buffer, source, third, [0.125, 2.5, 3.5, 4.5])
    assert buffer.log_probs.tolist() == [0.75, 0.125, 2.5, 3.5]
    assert buffer.rewards.tolist() == [2.0, 1.0, 5.0, 7.0]
    ends = [1 - 0.125, 5 - 2.5, 7 - 3.5]
    assert buffer.advantages.tolist() == [2 + 0.5 * 0.125 - 0.75 + 0.25 * ends[0], *ends]


def test_what_is_open_is_forgotten_when_the_streams_are_interrupted() -> None:
    buffer, source = script_buffer()
    one: Script = [(0, [0, 0], False), (0, [0, 0], False), (0, [0, 0], False), (1, [0, 0], False)]
    fill(buffer, source, one, [1.0, 2.0, 3.0, 4.0])
    source.moves += 1  # it was reset
    fill(buffer, source, one, [5.0, 6.0, 7.0, 8.0])
    assert buffer.log_probs.tolist() == [5.0, 6.0]
    source.play(*one[0])  # somebody else has played on
    fill(buffer, source, one, [5.0, 6.0, 7.0, 8.0])
    assert buffer.log_probs.tolist() == [5.0, 6.0]
    fill(buffer, Source(), one, [1.0, 2.0, 3.0, 4.0])
    assert buffer.log_probs.tolist() == [1.0, 2.0]


def reset(venv: SelfPlayVecEnv) -> None:
    venv.reset()


def play(venv: SelfPlayVecEnv) -> None:
    venv.play(venv.action_masks().argmax(axis=1))


@pytest.mark.parametrize("meddle", [reset, play])
def test_another_hand_in_the_middle_of_a_rollout_is_refused(meddle: Any) -> None:
    venv = self_play(8, 3)

    def callback(local: dict[str, Any], _: Any) -> bool:
        if local["self"].num_timesteps == 8 * 3:
            meddle(venv)
        return True

    with pytest.raises(KilleError, match="in the middle of a rollout; a callback that plays needs"):
        learner(venv, batch_size=16).learn(8 * 8, callback=callback)


@pytest.mark.parametrize("around", [VecMonitor, lambda venv: VecNormalize(venv, norm_reward=False)])
@pytest.mark.parametrize("between", [reset, play])
def test_a_rollout_begins_from_what_stands_on_the_tables(around: Any, between: Any) -> None:
    """The library keeps the observations of the rollout before, whatever happened in between."""
    venv = self_play(8, 3)
    model = learner(around(venv), batch_size=16)
    model.learn(8 * 8 * 2)
    assert (model.rollout_buffer._streams.open >= 0).any()
    between(venv)
    first = venv.observe()
    expected = model.env.normalize_obs(first) if hasattr(model.env, "normalize_obs") else first
    model.learn(8 * 8, reset_num_timesteps=False)
    seen = model.rollout_buffer._rows["observations"][:8]
    assert np.array_equal(seen, expected)
    assert model.rollout_buffer._streams.count == 8 * 8  # nothing was open before


def test_a_rollout_that_is_broken_off_keeps_what_is_open() -> None:
    venv, whole = self_play(8, 3), self_play(8, 3)
    model = learner(venv, batch_size=16)
    model.learn(8 * 8)

    def stop(local: dict[str, Any], _: Any) -> bool:
        return local["self"].num_timesteps < 8 * 8 + 8 * 3

    model.learn(8 * 8, stop, reset_num_timesteps=False)
    opened = (model.rollout_buffer._streams.open >= 0).sum()
    model.learn(8 * 8, reset_num_timesteps=False)
    assert model.rollout_buffer._streams.count == opened + 8 * 8
    assert whole.moves == 0 and venv.moves == 1 + 8 + 3 + 8


def test_a_model_goes_on_at_tables_of_other_sizes_and_rules() -> None:
    def make(seats: int, rules: str = "svensk") -> SelfPlayVecEnv:
        kind: Any = {"episode": "deal", "observation": "seats", "rules": rules}
        return self_play(8, seats, **kind)

    model = learner(make(2), batch_size=16)
    model.learn(8 * 8)
    for seats, rules in ((3, "svensk"), (4, "wikipedia"), (3, "svensk"), (2, "wikipedia")):
        venv = make(seats, rules)
        model.set_env(venv)
        model.learn(8 * 8 * 2, reset_num_timesteps=False)
        assert model.rollout_buffer._streams.open.shape == (8, seats)


def test_a_model_returns_to_tables_where_it_learned_before() -> None:
    first, second = self_play(8, 3), self_play(8, 3, seed=9)
    model = learner(first, batch_size=16)
    model.learn(8 * 8)
    model.set_env(second)
    model.learn(8 * 8, reset_num_timesteps=False)
    assert (model.rollout_buffer._streams.open >= 0).any()
    first.reset()  # nobody learns there now
    assert (model.rollout_buffer._streams.open >= 0).any()
    model.set_env(first)
    model.learn(8 * 8, reset_num_timesteps=False)
    assert model.rollout_buffer._tables is first


def test_minibatches_are_about_equal() -> None:
    venv = self_play(64, 3, episode="deal")
    model = learner(venv, batch_size=100)
    model.learn(64 * 8)
    sizes = [len(part.advantages) for part in model.rollout_buffer.get(100)]
    assert sum(sizes) == len(model.rollout_buffer.advantages) < 64 * 8
    assert max(sizes) - min(sizes) <= 1
    assert 67 <= min(sizes) <= 150
    (everything,) = model.rollout_buffer.get()
    assert len(everything.advantages) == sum(sizes)


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_no_minibatch_has_a_single_decision(batch_size: int) -> None:
    venv = self_play(2, 3, episode="deal")
    model = learner(venv, batch_size=batch_size)
    for _ in range(4):  # odd and even numbers of decisions
        model.learn(2 * 8, reset_num_timesteps=False)
        sizes = [len(part.advantages) for part in model.rollout_buffer.get(batch_size)]
        assert min(sizes) >= 2
    assert all(parameter.isfinite().all() for parameter in model.policy.parameters())


def test_too_short_a_rollout_is_an_error() -> None:
    venv = self_play(1, 3, rules={"gok_call": "off", "fraga": "off"})
    with pytest.raises(KilleError, match="n_steps"):
        learner(venv, n_steps=2, batch_size=2).learn(10)
