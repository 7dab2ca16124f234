import json
import os
import subprocess
import sys
from importlib import metadata

import pytest

from kille_training.cli import checks
from kille_training.cli.checks import BROKEN, FINE, NOTE, WARNING, Finding, to_mend


def found(check, what):
    (one,) = [finding for finding in check() if finding.what == what]
    return one


def doctor(**variables):
    """Runs the command in a process of its own."""
    environ = {**os.environ, **variables}
    command = [sys.executable, "-m", "kille_training.cli.main", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    return done.returncode, json.loads(done.stdout)


def test_a_sound_installation_has_nothing_broken(kille):
    shown = kille("doctor").out
    for part in ("versions", "extras", "cache", "threads", "memory", "disk"):
        assert part in shown
    result = json.loads(kille("doctor", "--json").out)
    assert not [one for one in result["findings"] if one["level"] == BROKEN]


def test_a_cache_that_cannot_be_written_is_to_be_mended(tmp_path):
    (tmp_path / "file").write_text("")
    status, result = doctor(KILLE_CACHE_DIR=str(tmp_path / "file" / "cache"), OMP_NUM_THREADS="1")
    assert status == 0  # there is another place
    assert result["mend"][0] == "make KILLE_CACHE_DIR a folder that can be written"


def test_no_cache_at_all_is_broken(monkeypatch, kille):
    monkeypatch.setattr(checks, "cache_folder", lambda root: None)
    assert found(checks.cache, "folder").level == BROKEN
    assert "1. folder: set KILLE_CACHE_DIR" in kille("doctor", ends=1).out


def test_a_cold_cache_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(checks, "cache_folder", lambda root: tmp_path)
    monkeypatch.delenv("KILLE_CACHE_DIR", raising=False)
    monkeypatch.setattr(checks, "PLAIN", False)
    (tmp_path / "compiled-knack").write_bytes(b"")
    assert found(checks.cache, "warm").found == "knack"
    assert "byteskille" in found(checks.cache, "cold").found


def test_kernels_as_plain_python_are_warned_of(monkeypatch):
    monkeypatch.setattr(checks, "PLAIN", True)
    assert found(checks.cache, "compiler").level == WARNING


@pytest.mark.parametrize(
    ("extra", "lacks", "mend"),
    [("train", "torch", 'pip install "kille-env[train]"'), ("jax", "jax", "")],
)
def test_a_missing_library_is_named_with_its_extra(monkeypatch, extra, lacks, mend):
    monkeypatch.setattr(checks, "importable", lambda module: module != lacks)
    one = found(checks.extras, extra)
    assert (one.found, one.level, one.mend) == (f"not installed: {lacks}", NOTE, mend)


def test_an_old_version_is_to_be_upgraded(monkeypatch):
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.9" if name == "numpy" else real(name))
    monkeypatch.setattr(checks, "declared", lambda: {"": {"numpy": "2.0", "numba": "0.61"}})
    one = found(checks.versions, "numpy")
    assert (one.found, one.level) == ("1.9, older than 2.0", BROKEN)
    assert one.mend == 'pip install --upgrade "numpy>=2.0"'
    assert found(checks.versions, "numba").level == FINE


def test_a_missing_dependency_is_broken(monkeypatch):
    monkeypatch.setattr(checks, "declared", lambda: {"": {"no-such-library": "1"}})
    one = found(checks.versions, "no-such-library")
    assert (one.level, one.mend) == (BROKEN, "pip install no-such-library")


def test_the_declared_versions_are_read_by_extra(monkeypatch):
    lines = ["numpy>=2.0", "gymnasium<2,>=1.2", "torch>=2.6; extra == 'train'"]
    lines.append('ray[rllib]>=2.60; extra == "rllib"')
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    assert checks.declared() == {
        "": {"numpy": "2.0", "gymnasium": "1.2"},
        "train": {"torch": "2.6"},
        "rllib": {"ray[rllib]": "2.60"},
    }


@pytest.mark.parametrize(
    ("version", "is_"), [("2.13.0+cpu", (2, 13)), ("2.10", (2, 10)), ("3rc1", (3,)), ("x", ())]
)
def test_versions_are_compared_by_their_numbers(version, is_):
    assert checks.numbers(version) == is_


def test_more_threads_than_processors_are_warned_of(monkeypatch):
    monkeypatch.setattr(checks, "processors", lambda: 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    one = found(checks.threads, "OMP_NUM_THREADS")
    assert one.level == WARNING and "at most 2" in one.mend
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert "OMP_NUM_THREADS=1" in found(checks.threads, "OMP_NUM_THREADS").mend


def test_a_containers_limits_count(monkeypatch):
    files = {
        "/sys/fs/cgroup/cpu.max": "150000 100000\n",
        "/sys/fs/cgroup/memory.max": f"{3 * 2**30}\n",
        "/sys/fs/cgroup/memory.current": f"{2 * 2**30}\n",
        "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:   67108864 kB\n",
    }
    monkeypatch.setattr(checks, "_text", lambda path: files.get(path, ""))
    monkeypatch.setattr(checks.os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    assert checks.processors() == 2
    one = found(checks.memory, "free")
    assert (one.found, one.level) == ("1.0 GiB", WARNING)
    files["/sys/fs/cgroup/memory.stat"] = f"active_file 5\ninactive_file {2**29}\n"
    assert found(checks.memory, "free").found == "1.5 GiB"


def test_a_full_disk_is_warned_of(monkeypatch):
    usage = type("Usage", (), {"free": 10 * 2**20})
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda path: usage)
    assert found(checks.disk, "free").level == WARNING


def test_what_is_broken_is_mended_first():
    findings = [
        Finding("a", "fine", "x"),
        Finding("a", "note", "x", NOTE, "later"),
        Finding("a", "broken", "x", BROKEN, "now"),
        Finding("a", "warning", "x", WARNING, "soon"),
    ]
    assert [one.mend for one in to_mend(findings)] == ["now", "soon", "later"]
