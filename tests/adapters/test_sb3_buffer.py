"""Who is credited with what: every seat's decisions are a stream of their own."""

import pickle
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
from kille_env.adapters.sb3 import SeatStreamBuffer, SelfPlayVecEnv  # noqa: E402
from kille_env.adapters.sb3_buffer import Earned, Step  # noqa: E402
from kille_env.errors import KilleError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")


def buffer_for(venv: Any, n_steps: int, **options: Any) -> SeatStreamBuffer:
    spaces, size = (venv.observation_space, venv.action_space), venv.num_envs
    return SeatStreamBuffer(n_steps, *spaces, "cpu", n_envs=size, **options)


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
        """Returns reward and advantage of the decisions that were completed in a rollout."""
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
        buffer.reset()
        for _ in range(n_steps):
            (mask,) = venv.env_method("action_masks")
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
            following, rewards, dones, infos = venv.step(actions)
            assert np.array_equal(dones, batch.terminated | batch.truncated)
            for i in np.flatnonzero(dones):
                assert infos[i]["truncated"] == batch.truncated[i]
                assert infos[i]["returns"] == pytest.approx(paid[i])
                paid[i] = 0.0
            ended += dones.sum()
            log_probs = torch.arange(names, names + tables, dtype=torch.float32)
            buffer.add(
                observation,
                actions.reshape(-1, 1),
                rewards,
                dones,
                torch.as_tensor(values)[:, None],
                log_probs,
                action_masks=mask,
            )
            observation, names = following, names + tables
        buffer.compute_returns_and_advantage(torch.zeros(tables), np.zeros(tables))
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
    """One table of a SelfPlayVecEnv whose steps are scripted: seat, rewards of all, done."""

    num_envs = 1
    observation_space = spaces.Box(0, 255, (1,), np.uint8)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.stands = object()

    def step(self, seat: int, rewards: list[float], done: bool) -> Earned:
        before, self.stands = self.stands, object()
        earned = np.array([rewards], dtype=float)
        played = np.array([seat]), earned, np.array([done])
        return Earned.of(Step(before, self.stands, ("box", None), *played))


Script = list[tuple[int, list[float], bool]]


def fill(buffer: SeatStreamBuffer, source: Source, steps: Script, values: list[float]) -> None:
    buffer.reset()
    mask = np.ones((1, 2), dtype=np.int8)
    for number, (step, value) in enumerate(zip(steps, values, strict=True)):
        reward = source.step(*step)
        seen, action = np.full((1, 1), number, dtype=np.uint8), np.zeros((1, 1))
        done = np.zeros(1)
        buffer.add(seen, action, reward, done, torch.tensor([[value]]), torch.tensor([value]), mask)
    buffer.compute_returns_and_advantage(torch.full((1,), 99.0), np.ones(1))


def script_buffer() -> tuple[SeatStreamBuffer, Source]:
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
    carried = [
        0 + 0.5 * 3.0 - 0.5 + 0.25 * at_end[0],
        0 + 0.5 * 1.0 - 1.5 + 0.25 * at_end[1],
    ]
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
    source.stands = object()  # it was reset
    fill(buffer, source, one, [5.0, 6.0, 7.0, 8.0])
    assert buffer.log_probs.tolist() == [5.0, 6.0]
    source.step(*one[0])  # somebody else has played on
    fill(buffer, source, one, [5.0, 6.0, 7.0, 8.0])
    assert buffer.log_probs.tolist() == [5.0, 6.0]
    fill(buffer, Source(), one, [1.0, 2.0, 3.0, 4.0])
    assert buffer.log_probs.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("more", [1, 2])
def test_another_hand_in_the_middle_of_a_rollout_is_refused(more: int) -> None:
    venv = self_play(8, 3)

    def meddle(local: dict[str, Any], _: Any) -> bool:
        for _ in range(more if local["self"].num_timesteps == 8 * 3 else 0):
            venv.step(venv.action_masks().argmax(axis=1))
        return True

    with pytest.raises(KilleError, match="only that model may step the environment"):
        learner(venv, SeatStreamBuffer, batch_size=16).learn(8 * 8, callback=meddle)


@pytest.mark.parametrize("between", ["step", "reset", "break off", "normalize"])
def test_a_model_does_not_go_on_from_observations_of_other_decisions(between: str) -> None:
    """The library keeps the last ones, whatever is done to the environment between rollouts."""
    venv = self_play(8, 3)
    around = VecNormalize(venv, norm_reward=False) if between == "normalize" else VecMonitor(venv)
    model = learner(around, SeatStreamBuffer, batch_size=16)
    model.learn(8 * 8 * 2)
    model.learn(8 * 8, reset_num_timesteps=False)
    if between == "break off":
        model.learn(8 * 8, lambda *_: False, reset_num_timesteps=False)
    elif between == "reset":
        venv.reset()
    else:
        venv.step(venv.action_masks().argmax(axis=1))
    with pytest.raises(KilleError, match=r"Begin anew by model.set_env\(venv\)"):
        model.learn(8 * 8, reset_num_timesteps=False)
    model.set_env(around)
    model.learn(8 * 8, reset_num_timesteps=False)


def test_a_model_goes_on_at_tables_of_other_sizes_and_rules() -> None:
    def make(seats: int, rules: str = "svensk") -> SelfPlayVecEnv:
        kind: Any = {"episode": "deal", "observation": "seats", "rules": rules}
        return self_play(8, seats, **kind)

    model = learner(make(2), SeatStreamBuffer, batch_size=16)
    model.learn(8 * 8)
    for seats, rules in ((3, "svensk"), (4, "wikipedia"), (3, "svensk"), (2, "wikipedia")):
        venv = make(seats, rules)
        model.set_env(venv)
        model.learn(8 * 8 * 2, reset_num_timesteps=False)
        assert model.rollout_buffer._streams.open.shape == (8, seats)
        assert model.rollout_buffer.state()["open"].shape == (8, seats)


def test_a_model_returns_to_tables_where_it_learned_before() -> None:
    first, second = self_play(8, 3), self_play(8, 3, seed=9)
    model = learner(first, SeatStreamBuffer, batch_size=16)
    model.learn(8 * 8)
    model.set_env(second)
    model.learn(8 * 8, reset_num_timesteps=False)
    assert (model.rollout_buffer._streams.open >= 0).any()
    first.reset()  # nobody learns there now
    assert (model.rollout_buffer._streams.open >= 0).any()
    model.set_env(first)
    model.learn(8 * 8, reset_num_timesteps=False)
    assert model.rollout_buffer._stands is first._stands


def collect(buffer: SeatStreamBuffer, venv: SelfPlayVecEnv, change: Any = None) -> Any:
    """Steps tables once and gives the buffer what came of it; returns the rewards."""
    masks = venv.action_masks()
    seen, actions = venv._observe(), masks.argmax(axis=1)
    rewards = venv.step(actions)[1]
    given = rewards if change is None else change(rewards)
    unknown = torch.zeros(venv.num_envs)
    buffer.add(seen, actions, given, np.zeros(venv.num_envs), unknown, unknown, masks)
    return rewards


def test_rewards_carry_what_every_seat_earned() -> None:
    venv = self_play(8, 3, episode="deal")
    venv.reset()
    buffer = buffer_for(venv, 40)
    found = [collect(buffer, venv, lambda r: r.astype(np.float32).copy()) for _ in range(40)]
    for rewards in found:
        step = rewards.step
        assert step.rewards.shape == (8, 3) and rewards.dtype == np.float32
        assert np.array_equal(step.rewards[range(8), step.seats].astype(np.float32), rewards)
    paid = sum(rewards.step.rewards.sum(axis=0) for rewards in found)
    assert np.abs(paid).min() > 0 and buffer._streams.open.shape == (8, 3)


@pytest.mark.parametrize(
    "change",
    [
        np.array,
        lambda r: r + 1.0,
        lambda r: np.zeros(8),
        lambda r: np.clip(r, -1000, 1000),  # nobody has earned so much
        lambda r: pickle.loads(pickle.dumps(r)),
    ],
)
def test_other_rewards_than_those_of_a_step_are_refused(change: Any) -> None:
    venv = self_play(8, 3)
    venv.reset()
    buffer = buffer_for(venv, 4)
    with pytest.raises(KilleError, match="other rewards than SelfPlayVecEnv returned"):
        collect(buffer, venv, change)
    assert buffer.pos == buffer._streams.count == 0


def test_a_buffer_refuses_other_observations_and_numbers_of_tables() -> None:
    venv, other, more = (
        self_play(8, 2, observation="seats"), self_play(8, 2, features=lambda seen, mask: seen),
        self_play(9, 2, observation="seats"),
    )  # fmt: skip
    for tables in (venv, other, more):
        tables.reset()
    buffer = buffer_for(venv, 4)
    collect(buffer, venv)
    buffer.reset()
    for tables, words in (
        (other, "features of the environments differ"),
        (more, r"seats is int64 \[8\]"),
    ):
        with pytest.raises(KilleError, match=words):
            collect(buffer, tables)


def test_a_reset_in_the_middle_of_a_rollout_is_refused() -> None:
    venv = self_play(8, 2)
    venv.reset()
    buffer = buffer_for(venv, 4)
    collect(buffer, venv)
    venv.reset()
    with pytest.raises(KilleError, match="only that model may step the environment"):
        collect(buffer, venv)


def test_a_loaded_buffer_goes_on_with_the_loaded_tables_alone() -> None:
    venv, twin = self_play(8, 3), self_play(8, 3)
    venv.reset()
    buffer = buffer_for(venv, 4)
    for _ in range(4):
        collect(buffer, venv)
    buffer.reset()
    for reset in (False, True):
        again = buffer_for(twin, 4)
        again.load_state(buffer.state())
        twin.reset()
        twin.load_state(venv.state())
        assert again.state()["open"].tolist() == buffer.state()["open"].tolist()
        if reset:
            twin.reset()
        before = again._streams.count
        collect(again, twin)
        assert again._streams.count == 8 + (0 if reset else before) and before > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"open": np.full((8, 2), 16)}, r"'observations' of the state is float32 \[16, "),
        ({"open": np.full((8, 3), -1)}, r"'accrued' of the state is float64 \[8, 3\]"),
        ({"open": np.full((9, 2), -1)}, r"'open' of the state is int64 \[8"),
        ({"values": np.zeros(3)}, r"'values' of the state is float32 \[\d\]"),
    ],
)
def test_a_state_of_another_buffer_is_refused(change: dict[str, Any], words: str) -> None:
    venv = self_play(8, 2)
    venv.reset()
    buffer = buffer_for(venv, 4)
    collect(buffer, venv)
    before = buffer.state()
    with pytest.raises(KilleError, match=words):
        buffer.load_state({**before, **change})
    assert all(np.array_equal(before[name], array) for name, array in buffer.state().items())


def test_minibatches_are_about_equal() -> None:
    venv = self_play(64, 3, episode="deal")
    model = learner(venv, SeatStreamBuffer, batch_size=100)
    model.learn(64 * 8)
    sizes = [len(part.advantages) for part in model.rollout_buffer.get(100)]
    assert sum(sizes) == len(model.rollout_buffer.advantages) < 64 * 8
    assert max(sizes) - min(sizes) <= 1
    assert 67 <= min(sizes) <= 150
    kept = pickle.loads(pickle.dumps(model.rollout_buffer))
    assert kept.state().keys() == model.rollout_buffer.state().keys()
    (everything,) = model.rollout_buffer.get()
    assert len(everything.advantages) == sum(sizes)


def test_too_short_a_rollout_is_an_error() -> None:
    venv = self_play(1, 3, rules={"gok_call": "off", "fraga": "off"})
    with pytest.raises(KilleError, match="n_steps"):
        learner(venv, SeatStreamBuffer, n_steps=2, batch_size=2).learn(10)
