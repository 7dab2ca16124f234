"""The truth set: files that need nothing of ours, what is called certified, hostile files."""

import ast
import csv
import gzip
import io
import json
import sys
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kille_env
import kille_training as kt
from kille_agents.tabular import load_tabular
from kille_env.errors import KilleError
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.stored import StoredTree, canonical
from kille_training.solving.trees.values import coarse_gains, in_millionths, nash_conv, uniform
from reference.scripts import ROOT, script
from reference.small_games import coin, kuhn, leduc
from reference.trees import numbered

TRUTH = ROOT / "truth"
READER, CHECKER = script("truth/reader.py"), script("truth/check.py")
with (TRUTH / "index.csv").open(encoding="utf-8", newline="") as lines:
    ROWS = {row["name"]: row for row in csv.DictReader(lines)}
CERTIFIED = [name for name, row in ROWS.items() if row["certified"]]
STORED = [name for name, row in ROWS.items() if row["bytes"]]
LARGE = 50_000
"""Terminal nodes from which a table is left to the slow tests."""


def by_size(names: list[str]) -> list[Any]:
    """Mark large tables as slow."""
    large = {name for name in names if int(ROWS[name]["ends"]) > LARGE}
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in large)) for name in names]


def values_of(name: str) -> list[float]:
    return [float(value) for value in ROWS[name]["values"].split()]


# The set


def test_there_are_forty_tables_with_two_to_five_seats_and_few_bytes() -> None:
    assert len(ROWS) >= 40
    assert {int(row["seats"]) for row in ROWS.values()} == {2, 3, 4, 5}
    sets = [int(row["information_sets"]) for row in ROWS.values()]
    assert min(sets) < 100 and max(sets) > 5e5
    assert sum(path.stat().st_size for path in TRUTH.rglob("*") if path.is_file()) < 60 << 20
    assert list(ROWS) == [name for name in script("truth/make.py").TABLES if name in ROWS]


@pytest.mark.parametrize("name", by_size(STORED))
def test_the_reader_and_the_suite_measure_what_the_index_says(name: str) -> None:
    values, gains = READER.measure(READER.load(TRUTH / name / "table.npz"))
    found = kt.load_tree(name)
    assert found.digest == ROWS[name]["digest"]
    np.testing.assert_allclose(values, found.nash_conv.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gains, found.nash_conv.improvement, rtol=0, atol=1e-12)
    np.testing.assert_allclose(values, values_of(name), rtol=0, atol=1e-8)
    if ROWS[name]["hands"] == "1":
        assert gains.sum() == pytest.approx(float(ROWS[name]["nash_conv"]), rel=1e-2, abs=1e-12)
        play = nash_conv(found.tree, uniform(found.tree)).total
        assert play == pytest.approx(float(ROWS[name]["uniform"]), rel=1e-3)


@pytest.mark.parametrize("name", by_size(CERTIFIED))
def test_the_checker_proves_what_is_called_certified(name: str) -> None:
    values, best = CHECKER.check(*(str(TRUTH / name / f"tree.{e}") for e in ("efg.gz", "policy")))
    assert str(sum(best) - sum(values)) == ROWS[name]["certified"]
    assert [float(value) for value in values] == pytest.approx(values_of(name), abs=1e-8)


def test_known_values_come_out() -> None:
    assert values_of("kuhn-2") == pytest.approx([-1 / 18, 1 / 18], abs=1e-6)
    assert values_of("leduc-2")[0] == pytest.approx(-0.0856064, abs=2e-6)
    # Szafron, Gibson and Sturtevant (2013): the second earns -1/48, the first -1/32 to -1/48.
    first, second, third = values_of("kuhn-3")
    assert second == pytest.approx(-1 / 48, abs=1e-5)
    assert -1 / 32 - 1e-5 < first < -1 / 48 + 1e-5
    assert first + second + third == pytest.approx(0.0, abs=1e-8)


def test_every_table_has_a_digest_and_a_pot_comes_out_the_same() -> None:
    assert all(len(row["digest"]) == 64 for row in ROWS.values())
    row = script("truth/make.py").pot(name := "byteskille-pot-wikipedia-2")
    for column in ("digest", "values", "nash_conv", "hands"):
        assert row[column] == ROWS[name][column]


@pytest.mark.parametrize("preset", ["svensk", "wikipedia"])
def test_five_seats_earn_their_values_in_play(preset: str) -> None:
    name, deals = f"byteskille-{preset}-5", 50_000
    policy = load_tabular(TRUTH / name / "policy.npz")
    rules = {"preset": preset, "episode": "deal"}
    batch = kille_env.make_batch("byteskille", deals, 5, rules=rules, seed=1, restart=False)
    batch.reset(dealer=4)
    earned, rng = np.zeros((deals, 5)), np.random.default_rng(1)
    while (playing := batch.seat >= 0).any():
        shown = batch.observation[playing], batch.mask[playing]
        chances = policy.probabilities(*shown).cumsum(axis=1)
        actions = np.zeros(deals, dtype=np.int64)
        actions[playing] = (rng.random((len(chances), 1)) < chances).argmax(axis=1)
        batch.step(actions, which=playing)
        earned += batch.reward * playing[:, None]
    error = earned.std(axis=0) / deals**0.5
    assert (np.abs(earned.mean(axis=0) - values_of(name)) < 4 * error).all()
    assert (error < 0.01).all()


def test_tables_with_more_than_two_seats_are_measured_up_to_the_sizes_of_the_script() -> None:
    make = script("truth/make.py")
    rows = [row for row in ROWS.values() if int(row["seats"]) > 2 and row["ends"]]
    for row in rows:
        ends = int(row["ends"])
        assert (row["agreed"] != "") == (row["sharing"] != "") == (ends <= make.PAIRED)
        assert (row["runs"] != "") == (row["coarse"] != "") == (ends <= make.MEASURED)
    paired = [row for row in rows if row["agreed"]]
    assert len(paired) >= 18
    for row in paired:
        assert 0.0 < float(row["agreed"]) <= float(row["sharing"])


def test_leduc_with_equal_cards_merged_is_leduc() -> None:
    merged, whole = leduc().tree, script("truth/poker.py").leduc(2).tree
    assert (merged.num_infosets, whole.num_infosets) == (936, 288)
    found, expected = (nash_conv(game, uniform(game)) for game in (merged, whole))
    np.testing.assert_allclose(found.improvement, expected.improvement, atol=1e-12)


def test_the_description_of_the_set_names_every_file_and_column() -> None:
    content = json.loads((TRUTH / "croissant.json").read_text())
    describe = script("truth/describe.py")
    assert content == describe.described(list(ROWS))
    assert [*describe.COLUMNS] == [*next(iter(ROWS.values()))]


# Tools of others


@pytest.mark.parametrize("name", ["kuhn-2", "kuhn-3", "byteskille-wikipedia-2", "knack-mini-2"])
def test_openspiel_reads_the_compact_form(name: str, tmp_path: Path) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    found = kt.load_tree(name)
    efg, strategy = found.unrolled()
    efg.write(tmp_path / "table.efg")
    game = pyspiel.load_game("efg_game", {"filename": str(tmp_path / "table.efg")})
    policy = pyspiel.TabularPolicy(efg.policy_of(strategy, game))
    values = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
    np.testing.assert_allclose(values, found.nash_conv.values, atol=1e-12)
    theirs = pyspiel.nash_conv(game, policy, False)
    assert theirs == pytest.approx(found.nash_conv.improvement.sum(), abs=1e-12)


# Names


def test_a_table_is_named_as_a_game_is(answer: Any, refused: Any) -> None:
    name = "krypkille-mini-2"
    found = kt.nash_conv("uniform", name)
    assert float(found) == pytest.approx(float(ROWS[name]["uniform"]), rel=1e-3)
    solution = kt.solve(name, target=1e-2)
    assert (solution.table.num_players, solution.table.rules["pack"]) == (2, "BL+L4+L8+KI")
    assert answer("solve", name, "--target", "0.5")["num_players"] == 2
    for wrong, words in ({"num_players": 3}, "its own seats"), ({"rules": "tiny"}, "own seats"):
        with pytest.raises(KilleError, match=words):
            kt.solve(name, **wrong)
    assert "a game of other authors" in refused("solve", "kuhn-2")
    with pytest.raises(KilleError, match="there is no table and no file 'kuhn-9'"):
        kt.load_tree("kuhn-9")
    with pytest.raises(KilleError, match=r"has no file here: .*python truth/make.py"):
        kt.load_tree("knack-small-3")


@pytest.mark.parametrize("name", ["byteskille-wikipedia-2", "byteskille-unasked-3"])
def test_a_folder_is_a_player_with_the_values_of_its_table(name: str) -> None:
    found = kt.nash_conv(str(TRUTH / name))
    assert found.policy == name
    np.testing.assert_allclose(found.value, values_of(name), atol=1e-8)
    assert float(found) == pytest.approx(float(ROWS[name]["nash_conv"]), abs=1e-9)


# Hostile files


KUHN = TRUTH / "kuhn-2" / "table.npz"


def changed(path: Path, name: str, content: Any, of: Path = KUHN) -> Path:
    """Write a table with one array replaced: by an array, by bytes, or by nothing."""
    with zipfile.ZipFile(of) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    if content is None:
        del entries[f"{name}.npy"]
    elif isinstance(content, bytes):
        entries[f"{name}.npy"] = content
    else:
        array = io.BytesIO()
        np.save(array, content, allow_pickle=True)
        entries[f"{name}.npy"] = array.getvalue()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries.items():
            archive.writestr(entry, data)
    return path


def array_of(name: str) -> np.ndarray:
    with np.load(KUHN) as file:
        return file[name].copy()


def with_entry(name: str, place: Any, value: Any) -> np.ndarray:
    array = array_of(name)
    array[place] = value
    return array


def huge(shape: str) -> bytes:
    """Return an array whose header claims a shape that it does not have."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)


HOSTILE = {
    "missing": ("paid", None),
    "pickle": ("payoff", np.array([{}, []], dtype=object)),
    "type": ("before", array_of("before").astype(np.int64)),
    "float": ("solution", array_of("solution") / 1e6),
    "big_endian": ("chance", array_of("chance").astype(">f8")),
    "claims": ("ends", huge("(2, 1000000000000)")),
    "negative_shape": ("ends", huge("(-2, 8)")),
    "cut": ("solution", array_of("solution")[:-1]),
    "no_actions": ("actions", with_entry("actions", 0, 0)),
    "negative_actions": ("actions", with_entry("actions", slice(0, 2), (-1, 5))),
    "many_actions": ("actions", with_entry("actions", 0, 2**31 - 1)),
    "cycle": ("before", with_entry("before", 0, 1)),
    "below": ("before", with_entry("before", -1, -2)),
    "others_sequence": ("before", with_entry("before", -1, 3)),
    "ends_below": ("ends", with_entry("ends", (0, 0), -9)),
    "ends_above": ("ends", with_entry("ends", (0, 0), 2**30)),
    "others_ends": ("ends", array_of("ends")[::-1].copy()),
    "payoff_number": ("paid", with_entry("paid", 0, 99)),
    "payoff_below": ("paid", with_entry("paid", 0, -1)),
    "payoff_nan": ("payoff", with_entry("payoff", 0, np.nan)),
    "payoff_nan_unused": ("payoff", np.vstack([array_of("payoff"), [np.nan, 0.0]])),
    "chance_changed": ("chance", with_entry("chance", 0, 0.5)),
    "chance_below": ("chance", -array_of("chance")),
    "chance_nan": ("chance", with_entry("chance", 0, np.nan)),
    "chances_moved": ("chance", with_entry("chance", slice(0, 2), (1 / 4, 1 / 12))),
    "shares": ("share", with_entry("share", 0, 0.25)),
    "player": ("player", with_entry("player", 0, 7)),
    "solution": ("solution", with_entry("solution", 0, 1)),
    "solution_below": ("solution", with_entry("solution", slice(0, 2), (-1, 1_000_001))),
    "paid_cut": ("paid", array_of("paid")[:-1]),
    "payoff_cut": ("payoff", array_of("payoff")[:, :1].copy()),
    "share_added": ("share", np.append(array_of("share"), 1.0)),
    "one_side": ("ends", array_of("ends").ravel()),
    **{
        f"{name}_side_more": (name, array_of(name)[..., None])
        for name in ("player", "before", "chance", "paid", "payoff", "solution")
    },
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_hostile_tables_are_refused_in_a_sentence(fault: str, tmp_path: Path) -> None:
    path = changed(tmp_path / "table.npz", *HOSTILE[fault])
    assert path.stat().st_size < 3 << 20
    for read in (READER.load, kt.load_tree):
        with pytest.raises(ValueError, match=r"is not a table of the truth set: .") as raised:
            read(path)
        assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("share", [np.nan, np.inf, 1e300, 0.5])
def test_a_share_that_no_end_needs_is_checked_too(share: float, tmp_path: Path) -> None:
    """Such an information set changes no probability, but can change what is measured."""
    path = KUHN
    added = {"player": 0, "actions": 1, "ways": 1, "before": -1, "share": share}
    for name, value in {**added, "solution": 10**6}.items():
        array = array_of(name)
        array = np.append(array, array.dtype.type(value))
        path = changed(tmp_path / f"{name}.npz", name, array, of=path)
    for read in (READER.load, kt.load_tree):
        with pytest.raises(ValueError, match=r"is not a table of the truth set: ."):
            read(path)


def test_a_small_file_that_unpacks_to_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = changed(tmp_path / "table.npz", "actions", np.ones(1 << 22, dtype=np.int32))
    assert path.stat().st_size < 1 << 16
    monkeypatch.setattr("kille_env.files.MOST_ARRAYS", 1 << 20)
    for read in (lambda path: READER.load(path, most=1 << 20), kt.load_tree):
        with pytest.raises(ValueError, match=r"more than 1,048,576 bytes|larger than 1 MiB"):
            read(path)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive", None])
def test_what_is_no_archive_is_refused(data: bytes | None, tmp_path: Path) -> None:
    whole = (TRUTH / "kuhn-2" / "table.npz").read_bytes()
    (tmp_path / "table.npz").write_bytes(whole[: len(whole) // 2] if data is None else data)
    for read in (READER.load, kt.load_tree):
        with pytest.raises(ValueError, match="is not a table of the truth set"):
            read(tmp_path / "table.npz")


COIN = numbered(coin().nodes)


def written(folder: Path, strategy: np.ndarray) -> tuple[Path, Path]:
    """Write the two files of the coin with a strategy."""
    COIN.write(folder / "coin.efg")
    COIN.write_policy(strategy, folder / "coin.policy")
    return folder / "coin.efg", folder / "coin.policy"


def check(tree: Path, policy: Path) -> tuple[list[Fraction], list[Fraction]]:
    return CHECKER.check(str(tree), str(policy))


@pytest.mark.parametrize("seed", range(3))
def test_the_checker_finds_what_our_own_measure_finds(tmp_path: Path, seed: int) -> None:
    tree = COIN.tree.without_nodes()
    strategy = np.random.default_rng(seed).random(tree.num_sequences)
    strategy /= np.repeat(np.add.reduceat(strategy, tree.first[:-1]), np.diff(tree.first))
    values, best = check(*written(tmp_path, strategy.round(6)))
    expected = nash_conv(tree, strategy)
    assert [float(value) for value in values] == pytest.approx(expected.values, abs=1e-5)
    gains = [float(most - value) for most, value in zip(best, values, strict=True)]
    assert gains == pytest.approx(expected.improvement, abs=1e-5)


def test_its_answer_is_exact(tmp_path: Path) -> None:
    """Always going on loses the guess of heads; worked out by hand."""
    values, best = check(*written(tmp_path, np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])))
    assert values == [Fraction(5, 6) - 2, 2 - Fraction(5, 6)]
    assert best == [Fraction(5, 6) - Fraction(2, 3), values[1]]


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("coin.policy", "1 1 0.5 0.5", "1 1 0.5 0.6", "add up to 1"),
        ("coin.policy", "1 1 0.5 0.5", "1 1 1.5 -0.5", "add up to 1"),
        ("coin.policy", "1 1 0.5 0.5", "1 1 nan nan", "expected numbers"),
        ("coin.policy", "1 1 0.5 0.5", "1 1 1e999999999 0", "expected numbers"),
        ("coin.policy", "1 1 0.5 0.5", f"1 1 {'9' * 5000} 0", "expected numbers"),
        ("coin.policy", "1 1 0.5 0.5", "1 1 1/0 0", "expected numbers"),
        ("coin.policy", "1 1 0.5 0.5", "1 1", "expected numbers"),
        ("coin.policy", "1 1 0.5 0.5", "1 1 1/3 1/3 1/3", "other actions in the policy"),
        ("coin.policy", "1 1 0.5 0.5\n", "1 1 0.5 0.5\n1 3 1\n", "belongs to another tree"),
        ("coin.policy", "1 1 0.5 0.5\n", "1 1 0.5 0.5\n1 1 1 0\n", "stands twice"),
        ("coin.policy", "1 1 0.5 0.5\n", "1 1 0.5 0.5 " + "0 " * (1 << 20), "too long"),
        ("coin.efg", '"0" 1/3 "1" 2/3', '"0" 1/3 "1" 1/3', "add up to 1"),
        ("coin.efg", 'p "" 1 2', 'p "" 1 1', "belongs to another tree"),
        ("coin.efg", 'p "" 1 2', 'p "" 0 2', "other actions in the policy"),
        ("coin.efg", 'p "" 1 2', 'p "" -1 2', "other actions in the policy"),
        ("coin.efg", 'p "" 2 1', 'p "" 2 9', "other actions in the policy"),
        ("coin.efg", 'c "" 1', 'x "" 1', "not a node"),
        ("coin.efg", "} 0\n", '} 9 "" { 5 -5 }\n', "not a node"),  # payoffs on the way
        ("coin.efg", "{ -1 1 }", "{ -1 }", "zip"),
        ("coin.efg", "{ -1 1 }", "{ -1 inf }", "expected numbers"),
        ("coin.efg", "{ -1 1 }\n", '{ -1 1 }\nt "" 9 "" { 0 0 }\n' * 3, "not a node"),
        ("coin.efg", '{ "seat 0" "seat 1" }', "{ }", "no players"),
        ("coin.efg", '{ "seat 0" "seat 1" }', "{ " + '"" ' * 100_000 + "}", "or too many"),
        ("coin.efg", "EFG 2", "c 2", "not a node"),
        # Gambit reads two nodes, and payoffs on the way, where a line looks like one
        ("coin.efg", "} 0\n", '} 9 "" { 5 -5 } c "" 99 "" { "0" 1 } 0\n', "not a node"),
        ("coin.efg", "{ -1 1 }", "{ -1 1 } { 5 -5 }", "not a node"),
        ("coin.efg", "{ -1 1 }", '{ -1 1 } "', "not a node"),
        ("coin.efg", 'p "" 1 2 "', 'p "" 1 2 "\\', "not a node"),
        ("coin.efg", 't "" 2', 't "" 1', "two meanings"),
    ],
)
def test_what_is_no_game_or_no_policy_is_never_certified(
    tmp_path: Path, file: str, old: str, new: str, told: str
) -> None:
    files = written(tmp_path, uniform(COIN.tree.without_nodes()))
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=told):
        check(*files)


def test_cut_files_are_never_certified(tmp_path: Path) -> None:
    files = written(tmp_path, uniform(COIN.tree.without_nodes()))
    for file in files:
        whole = file.read_bytes()
        for length in range(0, len(whole), 7):
            file.write_bytes(whole[:length])
            with pytest.raises((ValueError, IndexError)):
                check(*files)
        file.write_bytes(whole)
    packed = tmp_path / "coin.efg.gz"
    packed.write_bytes(gzip.compress(files[0].read_bytes())[:-12])
    with pytest.raises(EOFError):
        check(packed, files[1])
    packed.write_bytes(gzip.compress(bytes(1 << 24)))
    with pytest.raises(ValueError, match="too long"):
        check(packed, files[1])


@pytest.mark.parametrize("times", [1, 1000])
def test_fractions_that_become_too_long_are_never_certified(tmp_path: Path, times: int) -> None:
    """A deep tree, and many ends with different denominators, would take hours and the memory."""
    (tmp_path / "one.policy").touch()
    lines = ['EFG 2 R "" { "one" }\n']
    if times == 1:
        shares = f"1/{10**39} {10**39 - 1}/{10**39}".split()
        for depth in range(300):
            lines.append(f'c "" {depth} "" {{ "0" {shares[0]} "1" {shares[1]} }} 0\n')
        lines += [f't "" {end} "" {{ 1 }}\n' for end in range(301)]
    else:
        branches = " ".join(f'"{end}" 1/{times}' for end in range(times))
        lines.append(f'c "" 1 "" {{ {branches} }} 0\n')
        lines += [f't "" {end} "" {{ 1/{10**39 + 2 * end + 1} }}\n' for end in range(times)]
    (tmp_path / "one.efg").write_text("".join(lines))
    with pytest.raises(ValueError, match="a fraction becomes too long"):
        check(tmp_path / "one.efg", tmp_path / "one.policy")


def test_a_change_of_a_published_file_is_seen(tmp_path: Path) -> None:
    """Another payoff and another choice both change the result."""
    tree, policy = (TRUTH / "byteskille-wikipedia-2" / f"tree.{e}" for e in ("efg.gz", "policy"))
    before = check(tree, policy)
    lines = gzip.decompress(tree.read_bytes()).decode().splitlines(keepends=True)
    paid = [line.replace("{ 2 -2 }", "{ 3 -2 }") for line in lines]
    assert paid != lines
    (tmp_path / "paid.efg").write_text("".join(paid))
    assert check(tmp_path / "paid.efg", policy) != before
    first, *others = policy.read_text().splitlines(keepends=True)
    seat, number, *chances = first.split()
    (tmp_path / "other.policy").write_text(
        "".join([f"{seat} {number} {' '.join(reversed(chances))}\n", *others])
    )
    values, best = check(tree, tmp_path / "other.policy")
    assert sum(best) - sum(values) > sum(before[1]) - sum(before[0])


@pytest.mark.parametrize(
    ("name", "most", "known"), [("check", 100, set()), ("reader", 60, {"numpy"})]
)
def test_reader_and_checker_are_short_and_need_nothing_of_ours(
    name: str, most: int, known: set[str]
) -> None:
    source = (TRUTH / f"{name}.py").read_text()
    texts = sum(line.strip().startswith('"""') or not line.strip() for line in source.splitlines())
    assert len(source.splitlines()) - texts <= most
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names <= sys.stdlib_module_names | known


# The parts


@pytest.mark.parametrize("game", [coin(), kuhn(3)])
def test_a_table_comes_back_as_it_was_written_byte_for_byte(game: Any, tmp_path: Path) -> None:
    tree = canonical(game.tree)
    strategy = np.random.default_rng(1).random(tree.num_sequences)
    strategy /= np.repeat(np.add.reduceat(strategy, tree.first[:-1]), np.diff(tree.first))
    whole = in_millionths(tree, strategy)
    assert (np.add.reduceat(whole, tree.first[:-1]) == 10**6).all()
    np.testing.assert_allclose(whole / 1e6, strategy, atol=2e-6)
    StoredTree(tree, whole, {"name": "mine"}).write(tmp_path / "one.npz")
    found = kt.load_tree(tmp_path / "one.npz")
    found.write(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert found.about == {"name": "mine"}
    expected = nash_conv(game.tree, whole / 1e6)
    np.testing.assert_allclose(found.nash_conv.improvement, expected.improvement, atol=1e-14)
    values, gains = READER.measure(READER.load(tmp_path / "one.npz"))
    np.testing.assert_allclose(values, expected.values, atol=1e-14)
    np.testing.assert_allclose(gains, expected.improvement, atol=1e-14)


def test_the_gap_of_a_history_is_that_of_its_strategies() -> None:
    """A constant history is its strategy; with two players the gaps sum to the average's."""
    tree = kuhn(2).tree
    strategy = np.random.default_rng(3).random(tree.num_sequences)
    strategy /= np.repeat(np.add.reduceat(strategy, tree.first[:-1]), np.diff(tree.first))
    alone = coarse_gains(tree, [strategy] * 3)
    np.testing.assert_allclose(alone, nash_conv(tree, strategy).improvement, atol=1e-14)
    history, solver = [], CFR(tree, "cfr", start=strategy)
    for _ in range(50):
        history.append(solver.current)
        solver.run(1)
    np.testing.assert_allclose(history[0], strategy, atol=1e-15)
    average = nash_conv(tree, _average(tree, history))
    assert coarse_gains(tree, history).sum() == pytest.approx(average.total, abs=1e-12)


def _average(tree: Any, history: list[np.ndarray]) -> np.ndarray:
    """Return the strategy of average realization weights."""
    from kille_training.solving.trees.sequence_game import sequence_reach
    from kille_training.solving.trees.values import normalised

    return normalised(tree, np.mean([sequence_reach(tree, one)[1:] for one in history], axis=0))
