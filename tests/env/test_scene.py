"""Where things lie on a table, at every number of seats, and what pages are given."""

from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import kille_env
from kille_env.pictures.frame import frame
from kille_env.pictures.scene import Item, Scene, _latest, arrange, cut, text_width
from kille_env.pictures.svg import document
from kille_env.words.view import Card, Pile, Seat, View

HAND = {"byteskille": 1, "knack": 3}
MANY = 11  # with more seats a hand is one card, which lies in the hand or open


def full_view(game: str, seats: int, viewer: int | None) -> View:
    """Return a table with as much on it as there can be."""
    spec = kille_env.spec(game)
    rng = np.random.default_rng(seats)
    face = lambda: int(rng.integers(spec.pack.size))  # noqa: E731
    hand = HAND.get(game, 5)
    everybody = tuple(
        Seat(
            hand=tuple(Card(f"hand {seat} {i}", face(), "high") for i in range(hand)),
            played=(Card(f"trick {seat}", face()),) if seats <= MANY else (),
            words=("had to give", "is out: lowest card"),
            tricks=2,
            units=-123.25,
            present=seat != 1,
        )
        for seat in range(seats)
    )
    piles = Pile("talon", 30), Pile("aside", 2, face())
    return View("A title", viewer, seats - 1, 1, everybody, piles, 1234.0, "seat 1 is to act.")


def zone(item: Item) -> str:
    """Return what an item may overlap: the other cards of its hand."""
    return item.key.rpartition(" ")[0] if item.key.startswith("hand") else item.key


def overlapping(scene: Scene) -> list[tuple[str, str]]:
    solid = [item for item in scene.items if item.key not in ("felt", "dealer")]
    return [
        (one.key, other.key)
        for one, other in combinations(solid, 2)
        if zone(one) != zone(other) and not one.box.clear_of(other.box, -0.01)
    ]


def test_nothing_overlaps_at_any_number_of_seats(game: str) -> None:
    spec = kille_env.spec(game)
    for seats in range(spec.min_players, spec.max_players + 1):
        for viewer in (None, seats // 2):
            scene = arrange(full_view(game, seats, viewer), spec)
            assert overlapping(scene) == [], seats
            assert all(item.box.within(scene.width, scene.height) for item in scene.items), seats
            keys = [item.key for item in scene.items]
            assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("seats", [2, 3, 7, 20])
def test_the_viewer_sits_below_and_the_others_follow_clockwise(seats: int) -> None:
    spec = kille_env.spec("byteskille")
    viewer = seats - 2
    scene = arrange(full_view("byteskille", seats, viewer), spec)
    plate = {item.key: item for item in scene.items if item.key.startswith("seat")}
    card = {item.key: item for item in scene.items if item.key.startswith("hand")}
    own = plate[f"seat {viewer}"]
    assert own.x == scene.width / 2
    assert own.y == max(item.y for item in plate.values())
    assert card[f"hand {viewer} 0"].scale == max(item.scale for item in card.values())
    middle = scene.height / 2
    angles = []
    for step in range(1, seats):
        other = plate[f"seat {(viewer + step) % seats}"]
        angle = np.arctan2(scene.width / 2 - other.x, other.y - middle)
        angles.append(angle % (2 * np.pi))
    assert angles == sorted(angles)


def test_nothing_moves_but_what_is_played() -> None:
    spec = kille_env.spec("krypkille")
    view = full_view("krypkille", 4, 0)
    before = {item.key: item for item in arrange(view, spec).items}
    seat = view.seats[2]._replace(hand=view.seats[2].hand[:4])
    after = arrange(view._replace(seats=(*view.seats[:2], seat, *view.seats[3:])), spec)
    for item in after.items:
        if not item.key.startswith("hand 2"):
            assert item == before[item.key]


def test_names_are_cut_and_escaped() -> None:
    view = full_view("krypkille", 3, 1)
    names = ["<Åsa & Bo>", "somebody with a name that is far too long for a plate", "Cia"]
    shown = document(arrange(view, kille_env.spec("krypkille"), names=names))
    assert "&lt;Åsa &amp; Bo&gt;" in shown
    assert names[1] not in shown and "somebody with a" in shown and "…" in shown
    texts = [node.text for node in ElementTree.fromstring(shown).iter() if "text" in node.tag]
    assert "<Åsa & Bo>" in texts
    assert text_width(cut(names[1], 80.0, 12.0), 12.0) <= 80.0
    assert cut("short", 80.0, 12.0) == "short"


def test_a_document_stands_alone() -> None:
    scene = arrange(full_view("knack", 4, 0), kille_env.spec("knack"))
    whole = document(scene, "both")
    assert ElementTree.fromstring(whole).get("aria-label") == "A title. seat 1 is to act."
    used = {node.get("href") for node in ElementTree.fromstring(whole).iter() if node.get("href")}
    held = {f"#{node.get('id')}" for node in ElementTree.fromstring(whole).iter()}
    assert used and used <= held
    assert document(scene, "both") == whole != document(scene)


def test_frames_say_what_moved_between_two_pictures(game: str) -> None:
    batch = kille_env.make_batch(game, 1, seed=4, restart=False)
    batch.reset(deal=False)
    rng = np.random.default_rng(4)
    frames = [frame(batch.game, None, batch.tables[0], batch.rules, 0)]
    assert frames[0]["moves"] == frames[0]["lines"] == frames[0]["calls"] == []
    while len(frames) < 12 and not batch.over[0]:
        before = batch.tables[0].copy()
        if batch.seat[0] < 0:
            batch.deal()
        else:
            batch.apply(np.array([rng.choice(np.flatnonzero(batch.mask[0]))]))
        frames.append(frame(batch.game, before, batch.tables[0], batch.rules, 0))
    assert any(each["moves"] for each in frames) and any(each["lines"] for each in frames)
    for old, new in pairwise(frames):
        places = {
            card[0] for each in (old, new) for seat in each["seats"] for card in seat["cards"]
        }
        places |= {pile[0] for each in (old, new) for pile in each["piles"]}
        aside = {"talon", "aside", "turned up"}
        kept = {target for _, target in new["moves"] if not target.startswith("won ")}
        assert kept - aside <= places, new["moves"]
        assert new["title"].startswith("deal ") and new["beat"] in (600, 1200, 2400)


def test_a_plate_without_room_for_all_words_keeps_the_latest() -> None:
    words = ("swapped", "went to the talon", "had to give")
    wide, narrow = (text_width("x" * letters, 11.5) for letters in (60, 15))
    assert _latest(words, wide, 11.5) == "swapped, went to the talon, had to give"
    assert _latest(words, narrow, 11.5) == "had to give"
    assert _latest(words[:1], 1.0, 11.5) == "swapped"  # `cut` shortens a single word
