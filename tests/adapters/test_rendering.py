"""Tables as text, as pictures and in a window: from one seat's view, or all cards open."""

import copy
import hashlib
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from pettingzoo.test import render_test

import kille_env
from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.registration import env_id
from kille_env.core.batch import Batch
from kille_env.errors import KilleError, RulesError

pygame = pytest.importorskip("pygame", reason="pictures take the extra render")
pytest.importorskip("resvg_py", reason="pictures take the extra render")

from kille_env.pictures.raster import pixels  # noqa: E402
from kille_env.pictures.scene import arrange  # noqa: E402
from kille_env.pictures.window import Window  # noqa: E402
from reference.scripts import printed  # noqa: E402

SIZE = (600, 960, 3)


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def playing(game: str, seats: int, decisions: int, seed: int = 3) -> Batch:
    """Return a table in the middle of a deal."""
    batch = kille_env.make_batch(game, 1, seats, seed=seed, restart=False)
    batch.reset()
    rng = np.random.default_rng(seed)
    for _ in range(decisions):
        batch.step(np.array([rng.choice(np.flatnonzero(batch.mask[0]))]))
    return batch


def scene(batch: Batch, seat: int | None) -> Any:
    return arrange(batch.game.view(batch.tables[0], batch.rules, seat), batch.spec)


def picture(batch: Batch, seat: int | None) -> np.ndarray:
    return pixels(scene(batch, seat))


# Pictures


def test_a_picture_of_every_game_and_size(game: str) -> None:
    spec = kille_env.spec(game)
    for seats in (spec.min_players, 4, spec.max_players):
        batch = playing(game, seats, 1)
        seen = picture(batch, 0)
        assert seen.shape == SIZE and seen.dtype == np.uint8
        assert not np.array_equal(seen, picture(batch, None))
        seen[:] = 0  # it is the caller's own
        assert picture(batch, 0).any()


def test_equal_tables_are_equal_pixels_in_another_process() -> None:
    code = (
        "import hashlib, kille_env\n"
        "env = kille_env.make('byteskille', 4, render_mode='rgb_array')\n"
        "env.reset(seed=5)\n"
        "print(hashlib.sha256(env.render().tobytes()).hexdigest())"
    )
    env = kille_env.make("byteskille", 4, render_mode="rgb_array")
    env.reset(seed=5)
    assert printed(code).strip() == hashlib.sha256(env.render().tobytes()).hexdigest()


# Environments


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_pettingzoos_render_test(game: str) -> None:
    def make(render_mode: str) -> Any:
        env = kille_env.make(game, 3, render_mode=render_mode)
        env.metadata["render_fps"] = 10_000
        return env

    render_test(make)


def test_views(game: str) -> None:
    batch = playing(game, 3, 0, seed=8)
    aec = kille_env.make(game, 3, render_mode="rgb_array")
    gym = KilleEnv(game, 3, render_mode="ansi", seat=1)
    aec.reset(seed=8)
    assert np.array_equal(aec.render(), picture(batch, None))
    gym.reset(seed=8)
    assert gym.render() == gym.tables.batch.describe(0, 1)


def test_pictures_show_what_was_won_so_far() -> None:
    env = kille_env.make("femkortskille", 3, render_mode="rgb_array")
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    while env.agents and not any(env.rewards.values()):
        env.step(int(rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]))))
    earned = dict(env.rewards)
    view = env._renderer.look(env._returns)
    assert [seat.units for seat in view.seats] == [earned[name] for name in env.possible_agents]
    copied = copy.deepcopy(env)
    assert np.array_equal(copied.render(), env.render())
    assert np.array_equal(pickle.loads(pickle.dumps(env)).render(), env.render())


def test_many_tables(game: str) -> None:
    venv: Any = gymnasium.make_vec(env_id(game), num_envs=3, render_mode="rgb_array", seat=0)
    venv.reset(seed=2)
    shown = venv.render()
    assert isinstance(shown, tuple) and [frame.shape for frame in shown] == [SIZE] * 3
    assert not np.array_equal(shown[0], shown[1])
    assert np.array_equal(venv.render(table=1), shown[1])
    with pytest.raises(RulesError, match="table"):
        venv.render(table=3)
    venv.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")  # of moviepy
def test_recording_a_video(tmp_path: Path) -> None:
    pytest.importorskip("moviepy", reason="Gymnasium's RecordVideo needs moviepy")
    env = gymnasium.make("kille_env/byteskille-v0", num_players=3, render_mode="rgb_array")
    env = RecordVideo(
        env, str(tmp_path / "videos"), episode_trigger=lambda number: True, disable_logger=True
    )
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        over = terminated or truncated
    env.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    assert video.stat().st_size > 1000


# The window


def test_the_window_of_a_match() -> None:
    env = KilleEnv("byteskille", 3, render_mode="human", seat=0)
    env.metadata = {**env.metadata, "render_fps": 10_000}
    env.reset(seed=1)
    screen = pygame.display.get_surface()
    assert screen.get_size() == (960, 600)
    assert pygame.display.get_caption()[0] == "Byteskille"
    before = pygame.image.tobytes(screen, "RGB")
    assert env.render() is None
    env.step(env.action_masks().argmax())
    assert pygame.image.tobytes(pygame.display.get_surface(), "RGB") != before
    copied = copy.deepcopy(env)
    copied.close()
    assert pygame.display.get_init()
    env.close()
    assert not pygame.display.get_init()
    env.close()


def test_a_window_is_resized_and_closed_by_the_person() -> None:
    batch = playing("krypkille", 4, 1)
    shown = scene(batch, 0)
    window = Window("Krypkille")
    window.show(shown)
    pygame.display.set_mode((480, 400), pygame.RESIZABLE)
    window.show(shown)
    screen = pygame.display.get_surface()
    assert screen.get_at((240, 10)) == (0, 0, 0, 255)  # the picture keeps its shape
    assert screen.get_at((240, 200)) != (0, 0, 0, 255)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(shown, seconds=60.0)  # closing it ends the waiting
    assert not pygame.display.get_init()
    window.show(shown, seconds=60.0)


def test_environments_that_share_the_window_of_the_process() -> None:
    one, other = (KilleEnv("krypkille", 3, render_mode="human", seat=0) for _ in range(2))
    for env in (one, other):
        env.metadata = {**env.metadata, "render_fps": 10_000}
        env.reset(seed=1)
    one.close()
    other.render()
    assert pygame.display.get_init()
    other.close()
    assert not pygame.display.get_init()


def test_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "nonsense")
    env = KilleEnv("byteskille", 3, render_mode="human")
    with pytest.raises(KilleError, match=r"there is no screen \(.*rgb_array"):
        env.reset(seed=1)
