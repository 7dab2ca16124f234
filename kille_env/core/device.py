"""Many tables of one game on a GPU: the loops of `kille_env.core.loops`, one thread for each table.

A thread calls the same loop as a CPU does, with slices of one table, so a step is defined once.
Kernels are compiled for the GPU from their functions as they are; only what
`kille_env.core.machine` asks of a processor is said here once more, for a GPU.

Numba's GPU support is the distribution numba-cuda, which is imported here and nowhere else.
"""

import math
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.core import arguments, loops, machine
from kille_env.core.arrays import Fixed, tell_rules
from kille_env.core.batch import Batch, again, numbers_of, width_of
from kille_env.core.digest import UnstableError, sources_of
from kille_env.core.game import Game
from kille_env.core.jit import PLAIN, Kernel, bind, filled, kernel_folder
from kille_env.core.rng import derive, mix
from kille_env.core.spec import RuleSets, RulesLike
from kille_env.core.table import OVER
from kille_env.errors import IllegalActionError, KilleError, shortened
from kille_env.extras import needs
from kille_env.streams import say

with needs("gpu"):
    import numba_cuda  # pyright: ignore[reportMissingImports]
    from numba import cuda as numba_dot_cuda
    from numba.cuda.core import config  # pyright: ignore[reportMissingImports]
    from numba.cuda.extending import overload, typeof_impl  # pyright: ignore

cuda: Any = numba_dot_cuda
"""Numba's GPU support: that of numba-cuda, whatever part of it an older Numba brings itself."""

THREADS = 128
"""Threads of a block."""
STEP_THREADS, SHARED = 32, 48 * 1024
"""Threads of a block that plays a step, if the shared memory of a block, bytes, has that room."""
CHECK_EVERY = 256
"""Steps between two looks at whether an action was illegal: each waits for the GPU."""
_ONE = np.uint64(1)
_S32 = np.uint64(32)


# How kernels are compiled for a GPU


@cache
def _device_function(function: Any) -> Any:
    """Return a function as other functions on the GPU call it."""
    return cuda.jit(device=True)(function)


typeof_impl.register(Kernel)(lambda kernel, _: _device_function(kernel.py_func)._numba_type_)


@overload(machine.bits_set)
def _bits_set(word):
    return lambda word: np.int64(cuda.popc(word))


@overload(machine.zeros_below)
def _zeros_below(word):
    return lambda word: np.int64(cuda.ffs(word) - 1) if word else np.int64(64)


@overload(machine.zeros_above)
def _zeros_above(word):
    return lambda word: np.int64(cuda.clz(word))


def _store(function: Any, size: int | None = None) -> None:
    @overload(function)
    def _(word: Any, out: Any, at: Any) -> Any:
        number = size or word.bitwidth

        def store(word: Any, out: Any, at: Any) -> None:
            for bit in range(number):
                out[np.intp(at) + bit] = (np.uint64(word) >> np.uint64(bit)) & _ONE

        return store


_store(machine.store_bits)
_store(machine.store_four, 4)


@overload(machine.store_pairs)
def _store_pairs(word: Any, out: Any, at: Any) -> Any:
    number = word.bitwidth // 2

    def store(word: Any, out: Any, at: Any) -> None:
        for pair in range(number):
            both = np.uint64(word) >> np.uint64(2 * pair)
            out[np.intp(at) + pair] = (both & _ONE) + (both >> _ONE & _ONE)

    return store


@overload(machine.prefetch)
def _prefetch(array, index):
    return lambda array, index: None


def on_device(template: Any, functions: dict[str, Any], name: str = "") -> Any:
    """Return a kernel of the GPU like `template` that finds its global names in `functions`.

    It is kept on disk like the CPU's, so only the first start compiles.
    """
    function = filled(template, functions)
    if PLAIN:
        return cuda.jit(function)
    try:
        key = sources_of(function, (numba_cuda.__version__, version("numba"), _content())).digest
    except UnstableError:  # another process could not tell whether it is the same
        return cuda.jit(function)
    function.__qualname__ = f"{function.__qualname__}_{key}"
    made, folder = cuda.jit(function), kernel_folder(key)
    if folder:
        if name and not any(folder.iterdir()):
            say(f"kille-env: compiling {name} for the GPU (once) ...")
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            made.enable_caching()
        finally:
            config.CACHE_DIR = before
    return made


@cache
def _content() -> bytes:
    """Return this file: the GPU's replacements for `machine`."""
    return Path(__file__).read_bytes()


# What a thread does: the templates of kernels. The names that they call are those of the loops.


def bound_later(*_: Any) -> Any:
    """Stand in for a function until `on_device` gives the real one; it is never called."""


seed = begin = show = step = first_illegal = view = copy = bound_later
RECORD, WORD, BYTE, SIGNED_BYTE = map(np.dtype, (np.uint64, np.uint64, np.uint8, np.int8))
TABLE_SIZE = RECORD.itemsize
"""Of the game: the record of a table, and its bytes."""


def _fill(tables, blank, rules):
    i = cuda.grid(1)
    if i < tables.shape[0]:
        tables[i] = blank[0]
        tables[i]["rules"] = rules[i]


def _seed(tables, seeds, streams, which, num_players):
    i = cuda.grid(1)
    if i < tables.shape[0]:
        j = i + 1
        seed(tables[i:j], seeds[i:j], streams[i:j], which[i:j], num_players)


def _begin(
    tables, rules, dealers, which, seats, observations, masks, rewards, terminated, truncated,
    restart,
):  # fmt: skip
    i = cuda.grid(1)
    if i < tables.shape[0]:
        j = i + 1
        begin(tables[i:j], rules, dealers[i:j], which[i:j], restart)
        show(
            tables[i:j], rules, which[i:j], seats[i:j], observations[i:j], masks[i:j],
            rewards[i:j], terminated[i:j], truncated[i:j],
        )  # fmt: skip


def _check(seats, masks, actions, which, illegal):
    """Note the first table with an illegal action, unless an earlier step had one."""
    i = cuda.grid(1)
    if i < seats.shape[0] and illegal[1] == 0:
        j = i + 1
        if first_illegal(seats[i:j], masks[i:j], actions[i:j], which[i:j]) >= 0:
            # The smallest number, so that the same table is named in every run.
            cuda.atomic.min(illegal, 0, i)


def _copy(source, start, target, at, number, thread, threads):
    """Copy `number` bytes in words of eight, a thread's share of them; places are in bytes."""
    for word in range(thread, (number + 7) // 8, threads):
        target[at // 8 + word] = source[start // 8 + word]


def _step(
    words, seen_words, mask_words, rules, actions, seats, observations, masks, rewards, terminated,
    truncated, restart, illegal,
):  # fmt: skip
    """Play a step, unless an action is illegal: then nothing is played from here on."""
    # A block copies its tables, observations and masks into its shared memory, word by word, and
    # back when they are played. In the GPU's own memory a thread's bytes lie far from those of its
    # neighbors, and a step that reads and writes them there took two to three times as long.
    records = cuda.shared.array(0, RECORD)  # these four are the same memory
    raw = cuda.shared.array(0, WORD)
    seen = cuda.shared.array(0, BYTE)
    legal = cuda.shared.array(0, SIGNED_BYTE)
    threads, thread = np.int64(cuda.blockDim.x), np.int64(cuda.threadIdx.x)
    features, num_actions, num_tables = observations.shape[1], masks.shape[1], seats.shape[0]
    first = np.int64(cuda.blockIdx.x) * threads
    number = min(threads, num_tables - first)
    seen_at = threads * TABLE_SIZE  # multiples of eight, as the number of threads is one
    mask_at = seen_at + threads * features
    tables_at, seen_from, mask_from = first * TABLE_SIZE, first * features, first * num_actions
    copy(words, tables_at, raw, 0, number * TABLE_SIZE, thread, threads)
    copy(seen_words, seen_from, raw, seen_at, number * features, thread, threads)
    copy(mask_words, mask_from, raw, mask_at, number * num_actions, thread, threads)
    cuda.syncthreads()
    i = first + thread
    if thread < number:
        if illegal[0] == num_tables:
            own_seen, own_legal = seen_at + thread * features, mask_at + thread * num_actions
            step(
                records[thread], rules, i, actions[i], seats,
                seen[own_seen : own_seen + features], legal[own_legal : own_legal + num_actions],
                rewards[i], terminated, truncated, restart,
            )  # fmt: skip
        elif illegal[1] == 0 and illegal[0] == i:
            illegal[2] = actions[i]
            illegal[1] = 1
    cuda.syncthreads()
    copy(raw, 0, words, tables_at, number * TABLE_SIZE, thread, threads)
    copy(raw, seen_at, seen_words, seen_from, number * features, thread, threads)
    copy(raw, mask_at, mask_words, mask_from, number * num_actions, thread, threads)


def _view(tables, rules, seats, out):
    i = cuda.grid(1)
    if i < tables.shape[0]:
        j = i + 1
        view(tables[i:j], rules, seats[i:j], out[i:j])


def _tell(tables, seats, observations, told, out):
    i = cuda.grid(1)
    if i < tables.shape[0]:
        j = i + 1
        tell_rules(tables[i:j], seats[i:j], observations[i:j], told, out[i:j])


def _choose(masks, key, out):
    """Write a legal action for each table, each equally likely; 0 where there is none."""
    i = cuda.grid(1)
    if i < masks.shape[0]:
        legal = 0
        for action in range(masks.shape[1]):
            legal += masks[i, action]
        number = np.int64(((mix(derive(key, i)) >> _S32) * np.uint64(legal)) >> _S32)
        out[i] = 0
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if number == 0:
                    out[i] = action
                number -= 1


@cache
def kernels_of(game: Game) -> dict[str, Any]:
    """Return the kernels of a game on the GPU, by name; each is compiled when it is first used."""
    title = game.spec.name
    begins = {"begin": game.kernel("open"), "show": game.kernel("show")}
    size = {"RECORD": game.spec.table, "TABLE_SIZE": game.spec.table.itemsize}
    steps = {"step": game.step_of_one, "copy": bind(_copy, {}), **size}
    return {
        "fill": on_device(_fill, {}),
        "seed": on_device(_seed, {"seed": game.seed}),
        "begin": on_device(_begin, begins, f"deals of {title}"),
        "check": on_device(_check, {"first_illegal": loops.first_illegal}),
        "step": on_device(_step, steps, f"steps of {title}"),
        "observe": on_device(_view, {"view": game.kernel("observe")}),
        "tell": on_device(_tell, {}),
        "choose": on_device(_choose, {}),
    }


def launch(
    kernel: Any, threads: int, *arguments: Any, block: int = THREADS, shared: int = 0
) -> None:
    """Start a kernel of `on_device`."""
    before = config.CUDA_LOW_OCCUPANCY_WARNINGS
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few tables are no mistake
    try:
        configured = kernel[-(-threads // block), block, 0, shared]
    finally:
        config.CUDA_LOW_OCCUPANCY_WARNINGS = before
    configured(*arguments)


def _array(shape: tuple[int, ...], dtype: np.dtype) -> tuple[Any, Any]:
    """Return an array on the GPU, and the same memory as words of eight bytes."""
    size = math.prod(shape)
    words = cuda.device_array(-(-size * dtype.itemsize // 8), np.uint64)
    return words.view(dtype)[:size].reshape(shape), words


class DeviceBatch(Fixed):
    """N tables of a game on the GPU that are stepped together; a `Batch` that never leaves it.

    `seat`, `observation`, `mask`, `reward`, `terminated`, `truncated` and `tables` are those of
    `Batch`, as arrays of the GPU that the next call overwrites. They have the CUDA array interface,
    so `torch.as_tensor(batch.mask, device="cuda")` shares their memory. Calls return before the GPU
    has done the work; everything runs on the default stream, as torch does where nothing else is
    said. The same actions lead to the same bytes as at the tables of a `Batch`.
    """

    FIXED = frozenset(
        {
            *("game", "spec", "rules", "num_players", "num_tables", "observe_rules"),
            *("tables", "seat", "observation", "mask", "reward", "terminated", "truncated"),
        }
    )

    def __init__(
        self,
        game: Game,
        num_tables: int = 1,
        num_players: int | None = None,
        rules: RulesLike = None,
        seed: int | None = None,
        restart: bool = True,
        observe_rules: bool = False,
    ) -> None:
        """Set up the arrays; call `reset` before the first `step`.

        The arguments are those of `kille_env.make_batch`.

        Raises:
            KilleError: There is no GPU, or its threads have no room for such a table.
        """
        if not cuda.is_available():
            raise KilleError(
                "device='cuda' needs an NVIDIA GPU with its driver, and none was found; "
                "use device='cpu' here"
            )
        self.game, self.spec = game, game.spec
        self.num_tables = n = arguments.whole("num_tables", num_tables, 1)
        self.rules = arguments.rules(rules, self.spec, n)
        self.num_players = self.spec.check_players(num_players, self.rules)
        self.restart = arguments.flag("restart", restart)
        self.observe_rules = arguments.flag("observe_rules", observe_rules)
        features = width_of(self.spec.observation, self.num_players)
        size = self.spec.table.itemsize + features + self.spec.num_actions
        threads = min(STEP_THREADS, SHARED // size // 8 * 8)
        if not threads:
            raise KilleError(
                f"a table of {self.spec.name} with what its seat sees takes {size:,} bytes, of "
                f"which eight do not fit into the {SHARED:,} that threads of a GPU share; use "
                "device='cpu', or a smaller record"
            )
        self._block = {"block": threads, "shared": threads * size}
        self._rules = cuda.to_device(np.array(self.rules.record))  # [R]
        self.tables, tables = _array((n,), self.spec.table)
        plain, seen = _array((n, features), np.dtype(np.uint8))
        self.mask, masks = _array((n, self.spec.num_actions), np.dtype(np.int8))
        self._words = tables, seen, masks
        self.seat = cuda.device_array(n, np.int8)
        self.reward = cuda.device_array((n, self.num_players), np.float64)
        self.terminated = cuda.device_array(n, np.bool_)
        self.truncated = cuda.device_array(n, np.bool_)
        self._shown = (
            self.seat, plain, self.mask, self.reward, self.terminated, self.truncated,
        )  # fmt: skip
        observation, self._told = plain, None
        if self.observe_rules:
            told = self.spec.rules_features(self.rules)
            observation = cuda.device_array((n, features + told.shape[1]), np.uint8)
            self._told = cuda.to_device(told)
        self.observation = observation
        self._everyone = cuda.to_device(np.ones(n, dtype=np.bool_))
        self._no_dealers = cuda.to_device(np.full(n, -1, dtype=np.int8))
        self._legal = np.array([n, 0, 0])  # no table, not noted yet, its action
        self._illegal = cuda.to_device(self._legal)
        self._chosen, self._taken = (cuda.device_array(n, np.int64) for _ in range(2))
        self._steps = -1  # -1 before the first reset
        self._choices = np.uint64(0)
        blank = np.zeros(1, self.spec.table)
        blank["deck"], blank["phase"], blank["seat"] = np.arange(self.spec.pack.size), OVER, -1
        numbers, blank["pool"] = numbers_of(self.rules)
        own = cuda.to_device(np.full(n, numbers, dtype=np.int32))
        self._launch("fill", self.tables, cuda.to_device(blank), own)
        self.seed(seed)

    @property
    def device(self) -> str:
        """The kind of device, as `make_batch` takes it."""
        return "cuda"

    def _launch(self, name: str, *arguments: Any, **block: int) -> None:
        launch(kernels_of(self.game)[name], self.num_tables, *arguments, **block)

    def seed(self, seed: int | Sequence[int] | np.ndarray | None) -> None:
        """Seed the tables; the next `reset` begins their match 1.

        Args:
            seed: As for `Batch.seed`.

        Raises:
            RulesError: The seed is impossible.
        """
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        seeds, streams = map(cuda.to_device, arguments.seeds(seed, self.num_tables))
        self._launch("seed", self.tables, seeds, streams, self._everyone, self.num_players)

    def reset(self, seed: int | Sequence[int] | np.ndarray | None = None) -> None:
        """Begin a new match at every table.

        Args:
            seed: New seed or seeds, as for `Batch.seed`; None continues the random streams.

        Raises:
            RulesError: The seed is impossible.
            IllegalActionError: An earlier action was illegal.
        """
        if self._steps > 0:
            self.check()
        if seed is not None:
            self.seed(seed)
        arrays = self.tables, self._rules, self._no_dealers, self._everyone, *self._shown
        self._launch("begin", *arrays, self.restart)
        self._tell()
        self._steps = 0

    def step(self, actions: Any) -> None:
        """Play one action at every table.

        From an illegal action on nothing is played at any table. To say so at once would make every
        step wait for the GPU, so `check` does, which every 256th step calls.

        Args:
            actions: [N] int64 on the GPU, side by side: any array with the CUDA array interface, as
                a tensor of torch is. Where a match is over, any number will do.

        Raises:
            IllegalActionError: They are no such array, or see `check`.
        """
        if self._steps < 0:
            raise KilleError("no match has begun: call reset() first")
        actions = self._actions(actions)
        # In a launch of its own: blocks of one launch do not wait for each other, and all actions
        # have to be checked before any table is stepped.
        self._launch("check", self.seat, self.mask, actions, self._everyone, self._illegal)
        arrays = *self._words, self._rules, actions, *self._shown
        self._launch("step", *arrays, self.restart, self._illegal, **self._block)
        self._tell()
        self._steps += 1
        if self._steps % CHECK_EVERY == 0:
            self.check()

    def check(self) -> None:
        """Wait for the GPU and raise the error about an illegal action, if there was one.

        Raises:
            IllegalActionError: An action was not legal. Nothing has been played since, and the next
                step goes on from there.
        """
        table, noted, action = self._illegal.copy_to_host().tolist()
        if not noted:
            return
        self._illegal.copy_to_device(self._legal)
        self._to_cpu(slice(table, table + 1)).refuse(0, action, table)

    def random_actions(self, seed: int = 0) -> Any:
        """Return a legal action for each table, each equally likely; for benchmarks.

        They are int64 [N] on the GPU, which the next call overwrites; 0 where a match is over.
        """
        self._choices += np.uint64(1)
        key = np.uint64(arguments.seed(seed)) ^ (self._choices << _S32)
        self._launch("choose", self.mask, key, self._chosen)
        return self._chosen

    def observe(self, seats: Any) -> Any:
        """Return fresh observations [N, F] of one seat, or [N] seats of NumPy, on the GPU."""
        chosen = cuda.to_device(arguments.seats(seats, self.num_players, self.num_tables))
        out = cuda.device_array(self._shown[1].shape, np.uint8)
        self._launch("observe", self.tables, self._rules, chosen, out)
        if self._told is None:
            return out
        shown = cuda.device_array(self.observation.shape, np.uint8)
        self._launch("tell", self.tables, chosen, out, self._told, shown)
        return shown

    def _tell(self) -> None:
        """Bring the observations with rules up to date."""
        if self._told is not None:
            seats, plain, *_ = self._shown
            self._launch("tell", self.tables, seats, plain, self._told, self.observation)

    def to_cpu(self) -> Batch:
        """Return a copy on the CPU, which continues as this batch would."""
        self.check()
        return self._to_cpu(slice(None))

    def _to_cpu(self, part: slice) -> Batch:
        arrays = [array[part].copy_to_host() for array in (self.tables, *self._shown)]
        rules = self.rules.at(part) if isinstance(self.rules, RuleSets) else self.rules
        options = self.restart, self.observe_rules
        settings = len(arrays[0]), self.num_players, rules, 0, *options
        return again(self.game.module.__name__, settings, self._steps >= 0, tuple(arrays))

    def _actions(self, actions: Any) -> Any:
        """Return a copy of actions, so that no other thread writes to them after the check."""
        if actions is self._chosen:
            return actions
        if isinstance(actions, type(self._chosen)):
            given = actions
        elif hasattr(actions, "__cuda_array_interface__"):
            given = cuda.as_cuda_array(actions)
        else:
            raise IllegalActionError(
                f"actions are int64 [{self.num_tables}] on the GPU, got {shortened(actions)}; "
                "move them there, as by torch.as_tensor(actions, device='cuda')"
            )
        if (
            given.shape != (self.num_tables,)
            or given.dtype != np.int64
            or not given.is_c_contiguous()
        ):
            raise IllegalActionError(
                f"actions are int64 [{self.num_tables}] side by side on the GPU, got "
                f"{given.dtype} {list(given.shape)}"
            )
        self._taken.copy_to_device(given)
        return self._taken
