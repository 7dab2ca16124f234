"""One rule in every form: actions, unknown options, drawing, masks after the end, the start."""

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import kille_env
from adapters.spies import Kept, legal, random_legal, stable_baselines, step
from kille_env.adapters.aec import KilleAEC
from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.errors import IllegalActionError, KilleError, RulesError
from reference.scripts import printed

PLAIN = {"fraga": "off", "gok_call": "off"}
"""Rules under which 0, to stand, is legal at once, and 9 is not."""
TABLES = 2


class Form:
    """One form of the environments, made, and how all its tables play one action."""

    def __init__(self, name: str, **options: Any) -> None:
        table = {"num_players": 3, "rules": PLAIN, "seed": 3, **options}
        self.name, self.single = name, name in ("aec", "gym")
        if name in ("batch", "SelfPlayVecEnv"):
            table.pop("illegal", None)
        makers: dict[str, Callable[..., Any]] = {
            "aec": kille_env.make,
            "gym": KilleEnv,
            "vector": lambda game, **more: SeatVectorEnv(game, TABLES, **more),
            "SeatVecEnv": lambda game, **more: stable_baselines().SeatVecEnv(game, TABLES, **more),
            "SelfPlayVecEnv": lambda game, **more: stable_baselines().SelfPlayVecEnv(
                game, TABLES, **more
            ),
            "batch": lambda game, **more: kille_env.make_batch(game, TABLES, **more),
        }
        self.env = makers[name]("byteskille", **table)

    def step(self, action: Any) -> Any:
        step = self.env.play if self.name == "SelfPlayVecEnv" else self.env.step
        return step(action)

    @property
    def batch(self) -> Any:
        if self.name == "batch":
            return self.env
        if self.name == "aec":
            return self.env._batch
        return self.env.batch if self.name == "SelfPlayVecEnv" else self.env.tables.batch

    def standing(self) -> bytes:
        return self.batch.arrays.tables.tobytes()

    def play(self, steps: int = 40) -> list[Any]:
        """Play on at random, and return all that is shown."""
        env, rng, shown = self.env, np.random.default_rng(2), []
        if self.name == "aec":
            for agent in env.agent_iter(steps):
                seen = [env.observe(name) for name in env.agents]
                shown.append((agent, env.last(), env.state(), seen, dict(env.rewards)))
                env.step(legal(env, rng))
            return shown
        for _ in range(steps):
            mask = env.tables.mask() if hasattr(env, "tables") else env.action_masks()
            actions = random_legal(mask, rng)
            shown.append(
                step(env, actions)
                if env.__class__.__module__.endswith("sb3")
                else env.step(actions[0] if self.single else actions)
            )
            if self.single and any(shown[-1][2:4]):
                shown.append(env.reset())
        return shown


def compared(shown: Any) -> Any:
    """Return what was shown as it can be compared; how long it took is left out."""
    if isinstance(shown, dict):
        return {key: compared(value) for key, value in shown.items() if key != "t"}
    if isinstance(shown, (list, tuple)):
        return [compared(each) for each in shown]
    return shown.tobytes() if isinstance(shown, np.ndarray) else shown


def arrays(shown: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in what was shown."""
    if isinstance(shown, np.ndarray):
        yield shown
    elif isinstance(shown, (dict, list, tuple)):
        for each in shown.values() if isinstance(shown, dict) else shown:
            yield from arrays(each)


FORMS = ("aec", "gym", "vector", "SeatVecEnv", "SelfPlayVecEnv", "batch")
LENIENT = FORMS[:4]
"""Those with the option `illegal`."""


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return request.param


def clothed(name: str, action: int) -> tuple[Any, Any]:
    """An action for one table, and the same for all."""
    one, all_ = np.array([action]), np.full(TABLES, action)
    if name == "list":
        return [action], [action] * TABLES
    if name == "column":
        return one[:, None], all_[:, None]
    if name == "int":
        return action, tuple(all_.tolist())
    if name == "scalar":
        return np.int16(action), [np.int16(action)] * TABLES
    if name == "0-d":
        return np.array(action), [np.array(action)] * TABLES
    if name == "strided":
        return one, np.full(2 * TABLES, action)[::2]
    if name.startswith("torch"):
        torch = pytest.importorskip("torch")
        if name == "torch 0-d":
            return torch.tensor(action), [torch.tensor(action)] * TABLES
        return torch.tensor([action]), torch.full((TABLES,), action, dtype=torch.int32)
    return one.astype(name), all_.astype(name)


WIDTHS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize(
    "clothes", ["int", "scalar", "0-d", "list", "column", "strided", "torch", "torch 0-d", *WIDTHS]
)
def test_a_whole_number_in_any_clothing_is_that_action(form: str, clothes: str) -> None:
    ends = []
    for given in (clothed(clothes, 0), (0, np.zeros(TABLES, np.int64))):
        played = Form(form, **({"illegal": "lose"} if form in LENIENT else {}))
        played.env.reset()
        played.step(given[0] if played.single else given[1])
        ends.append(played.standing())
        if played.name == "aec":
            assert not any(played.env.terminations.values())
    assert ends[0] == ends[1]


NOT_WHOLE = [
    *(0.0, 1.5, float("nan"), "0", "stand", None, True, np.True_, {}, object()),
    *([0, 0, 0], [[1], [2, 3]], [True], np.array([0.0]), np.array([True])),
    *(2**70, np.uint64(2**64 - 1)),
    *(np.ma.masked_array([0], [True]), np.ma.masked_array([0, 0], [True, False])),
]


@pytest.mark.parametrize("value", NOT_WHOLE, ids=lambda value: type(value).__name__)
def test_everything_else_is_an_error_and_never_a_loss(form: str, value: Any) -> None:
    played = Form(form, **({"illegal": "lose"} if form in LENIENT else {}))
    played.env.reset()
    before = played.standing()
    many = value if isinstance(value, (list, dict, np.ma.MaskedArray)) else [value] * TABLES
    for given in [value] if played.single else [value, many]:
        with pytest.raises(IllegalActionError, match="whole number"):
            played.step(given)
    assert played.standing() == before
    played.step(0 if played.single else [0] * TABLES)


@pytest.mark.parametrize("actions", [[True, 0], 0, [0], [0.0, 1.0]])
def test_what_are_no_actions_of_all_tables_is_refused_too(form: str, actions: Any) -> None:
    played = Form(form)
    played.env.reset()
    if not played.single:
        with pytest.raises(IllegalActionError, match="whole numbers"):
            played.step(actions)


def test_a_whole_number_that_is_not_legal_is_refused_or_loses(form: str) -> None:
    for wrong in (9, -1, 1_000):
        strict = Form(form, illegal="raise")
        strict.env.reset()
        before = strict.standing()
        with pytest.raises(IllegalActionError, match=r"not legal now. Legal: 0 \(stand\)"):
            strict.step(wrong if strict.single else [0, wrong])
        assert strict.standing() == before
        strict.step(0 if strict.single else [0] * TABLES)
        if form in LENIENT:
            played = Form(form, illegal="lose")
            played.env.reset()
            result = played.step(wrong if played.single else [wrong] * TABLES)
            lost = min(played.env.rewards.values()) if form == "aec" else np.min(result[1])
            assert lost == -3.0


@pytest.mark.parametrize("form", FORMS[:5])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_play_on(form: str, copied: Any) -> None:
    one, other = (Form(form, num_players=4, rules="svensk", episode="match") for _ in range(2))
    one.env.reset()
    one.play(9)
    other.env = copied(one.env)
    if form == "aec":
        assert other.env.action_space("player_0") is not one.env.action_space("player_0")
    assert compared(other.play()) == compared(one.play())
    if one.single:
        assert other.env.record() == one.env.record()
    for played in (one, other):
        played.env.reset()
    assert one.standing() == other.standing()


@pytest.mark.parametrize("form", FORMS[:5])
def test_what_was_handed_out_does_not_change(form: str) -> None:
    played, kept = Form(form, rules="svensk"), Kept()
    played.env.reset()
    for _ in range(40):
        kept.add(*arrays(played.play(1)))
    kept.check()


def test_an_unknown_option_is_a_type_error_and_ours(form: str) -> None:
    for wrong, more in (("frameskip", ""), ("num_player", r". Did you mean 'num_players'\?")):
        for kind in (TypeError, RulesError):
            with pytest.raises(kind, match=f"unexpected keyword argument '{wrong}'{more}"):
                Form(form, **{wrong: 4})
    with pytest.raises(TypeError, match=r"'stake' is a switch of byteskille: rules=\{'stake'"):
        Form(form, stake=6)


def test_an_unknown_option_of_a_class_or_registry_is_too() -> None:
    make: Any = KilleAEC
    game, more = "kille_env/byteskille-v0", r". Did you mean 'opponents'\?"
    for kind in (TypeError, RulesError):
        with pytest.raises(kind, match="unexpected keyword argument 'frameskip'"):
            make("byteskille", frameskip=4)
        with pytest.raises(kind, match=f"unexpected keyword argument 'oponents'{more}"):
            gymnasium.make(game, oponents="uniform")
        with pytest.raises(kind, match=f"unexpected keyword argument 'oponents'{more}"):
            gymnasium.make_vec(game, num_envs=2, oponents="uniform")


def test_before_the_first_reset_nothing_is_played(form: str) -> None:
    played = Form(form)
    with pytest.raises(KilleError, match=r"call reset\(\) first"):
        played.step(0 if played.single else [0] * TABLES)
    for look in ("action_masks", "action_mask", "last", "full_state", "state"):
        if form != "SelfPlayVecEnv" and hasattr(played.env, look) and look != "state":
            with pytest.raises(KilleError, match=r"call reset\(\) first"):
                getattr(played.env, look)()
    played.env.reset()
    played.step(0 if played.single else [0] * TABLES)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_environments_wait_for_a_reset_of_all_tables(mode: AutoresetMode) -> None:
    venv = gymnasium.make_vec("kille_env/byteskille-v0", num_envs=TABLES, autoreset_mode=mode)
    with pytest.raises(KilleError, match=r"call reset\(\) first"):
        venv.step(np.zeros(TABLES, np.int64))
    with pytest.raises(RulesError, match="all tables"):
        venv.reset(options={"reset_mask": np.array([True, False])})
    _, infos = venv.reset(seed=1)
    venv.step(venv.action_space.sample(tuple(infos["action_mask"])))


def test_after_the_end_every_mask_is_all_ones(game: str) -> None:
    rng = np.random.default_rng(1)
    aec = kille_env.make(game, episode="deal")
    aec.reset(seed=1)
    while not any(aec.terminations.values()):
        aec.step(legal(aec, rng))
    for agent in aec.agents:
        assert aec.infos[agent]["action_mask"].all() and aec.action_mask(agent).all()
        assert aec.observe(agent)["action_mask"].all()
    assert len({id(info["action_mask"]) for info in aec.infos.values()}) == aec.num_players

    single = KilleEnv(game, episode="deal")
    _, info = single.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = single.step(random_legal(info["action_mask"][None], rng)[0])
    assert info["action_mask"].all() and single.action_masks().all()

    for mode in AutoresetMode:
        venv = SeatVectorEnv(game, 4, episode="deal", autoreset_mode=mode)
        _, infos = venv.reset(seed=1)
        done = np.zeros(4, np.bool_)
        while not done.any():
            *_, done, _, infos = venv.step(random_legal(infos["action_mask"], rng))
        told = infos.get("final_info", infos)
        assert told["action_mask"][done].all()
        assert infos["action_mask"].any(axis=1).all()


def test_the_full_state_of_an_environment_is_the_batchs_from_seat_0() -> None:
    env = kille_env.make("byteskille", 3, seed=5)
    batch = kille_env.make_batch("byteskille", 1, 3, seed=5, restart=False)
    env.reset()
    batch.reset()
    while batch.seat[0] >= 0:
        assert np.array_equal(env.state(), batch.full_state(0)[0])
        assert np.array_equal(batch.full_state(), batch.full_state(batch.seat))
        action = int(batch.mask.argmax())
        env.step(action)
        batch.step([action])
    assert np.array_equal(env.state(), batch.full_state(0)[0])


WITHOUT_PYGAME = """
import sys
sys.modules.update(pygame=None, resvg_py=None)
import gymnasium, numpy as np, kille_env
from kille_env.errors import MissingLibraryError
made = [
    gymnasium.make("kille_env/knack-v0", render_mode="rgb_array"),
    gymnasium.make_vec("kille_env/knack-v0", num_envs=2, render_mode="rgb_array"),
    kille_env.knack_v0.env(render_mode="rgb_array"),
]
try:
    from stable_baselines3.common.env_util import make_vec_env
    made.append(make_vec_env("kille_env/knack-v0", n_envs=2))
except ModuleNotFoundError:
    pass
for env in made:
    env.reset()
    try:
        env.render()
    except MissingLibraryError as error:
        assert "[render]" in str(error), error
        print("told")
env = made[0]
env.step(env.unwrapped.action_masks().argmax())
try:
    kille_env.make("knack", render_mode="human").reset(seed=1)
except MissingLibraryError as error:
    assert "[render]" in str(error), error
    print("told")
print(len(made) + 1)
"""


def test_pictures_are_needed_when_something_is_drawn() -> None:
    *told, number = printed(WITHOUT_PYGAME, PYTHONWARNINGS="ignore").split()
    assert len(told) == int(number) or (len(told), number) == (4, "5")


@pytest.mark.filterwarnings("ignore:.*render")
def test_stable_baselines_own_helper_makes_environments() -> None:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        venv = make_vec_env("kille_env/knack-v0", n_envs=2, seed=1)
    venv.reset()
    masks = np.stack(venv.env_method("action_masks"))
    for _ in range(20):
        venv.step(masks.argmax(axis=1))
        masks = np.stack(venv.env_method("action_masks"))
