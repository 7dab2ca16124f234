"""What networks read of observations: scaled, and seat by seat at tables of every size."""

import numpy as np
import pytest

import kille_env
from env.players import decisions
from kille_env.core.floats import READINGS, SeatLayout, nearest_first, reading, seat_layout
from kille_env.core.spec import Part, feature_scale, lay_out
from kille_env.errors import KilleError, RulesError
from kille_env.registry import spec


def test_the_nearest_seats_come_first() -> None:
    assert nearest_first(2) == [0, 1]
    assert nearest_first(3) == [0, 1, 2]
    assert nearest_first(4) == [0, 1, 3, 2]
    assert nearest_first(7) == [0, 1, 6, 2, 5, 3, 4]
    for seats in range(1, 21):
        assert sorted(nearest_first(seats)) == list(range(seats))


def test_every_feature_is_read_once_and_lies_with_its_seat(game: str) -> None:
    table = spec(game)
    layout = seat_layout(table)
    seats_of = sorted({table.min_players, table.default_players, table.max_players})
    for seats in seats_of:
        seen, _ = decisions(game, seats, table.resolve(episode="deal"), tables=8, steps=12)
        found = layout.split(reading("seats", table, seats)(seen))
        assert found.table.shape == (len(seen), layout.num_table)
        assert found.seats.shape == (len(seen), table.max_players, layout.num_seat)
        assert (found.exists == (np.arange(table.max_players) < seats)).all()
        assert not found.seats[:, seats:].any()
        about_table, about_seats = 0, 1
        for part, largest in zip(
            table.observation(seats), table.observation(table.max_players), strict=True
        ):
            features = seen[:, part.slice] / np.float32(largest.high)
            if part.name in {each.name for each in layout.table}:
                shown = found.table[:, about_table : about_table + part.size]
                assert shown == pytest.approx(features, abs=1e-6), part.name
                about_table += part.size
                continue
            columns = part.size // seats  # one after the other, each with all seats from the viewer
            by_distance = features.reshape(len(seen), columns, seats).transpose(0, 2, 1)
            shown = found.seats[:, :seats, about_seats : about_seats + columns]
            assert shown == pytest.approx(by_distance[:, nearest_first(seats)], abs=1e-6), part.name
            about_seats += columns
        assert (about_table, about_seats) == (layout.num_table, layout.num_seat)


def test_the_dealer_is_where_it_sits() -> None:
    batch = kille_env.make_batch("byteskille", 64, 5, seed=3)
    batch.reset()
    layout = seat_layout(batch.spec)
    dealer = 1 + [part.name for part in layout.seat].index("dealer")  # each of these has one number
    places = layout.split(batch.read("seats")).seats[:, :, dealer].argmax(axis=1)
    distance = (batch.tables["dealer"] - batch.seat) % 5
    assert (np.array(nearest_first(5))[places] == distance).all()
    assert len(set(distance.tolist())) > 1


def test_both_readings_of_a_batch() -> None:
    batch = kille_env.make_batch("knack", 16, 4, seed=1)
    with pytest.raises(KilleError, match="reset"):
        batch.read()
    batch.reset()
    scale = feature_scale(batch.spec.observation(4))
    assert np.array_equal(batch.read("float"), batch.observation * scale)
    assert np.array_equal(batch.read("float", 2), batch.observe(2) * scale)
    rows = np.array([3, 3, 0])
    for kind in READINGS:
        read = reading(kind, batch.spec, 4)
        assert np.array_equal(read(batch.observation[rows]), batch.read(kind)[rows])
        assert np.array_equal(read(batch.observation[5]), batch.read(kind)[5])
    with pytest.raises(RulesError, match=r"kind is 'box', expected float or seats"):
        batch.read("box")


def test_a_part_that_is_neither_the_tables_nor_the_seats_is_refused() -> None:
    def layout(seats: int) -> tuple[Part, ...]:
        return lay_out(Part("others", seats - 1, "what the others have"))

    with pytest.raises(RulesError, match=r"'others' .* has 0 features for one seat and 1 for two"):
        SeatLayout(layout, 4)


@pytest.mark.parametrize("near_seats", [1, 3, 7, 30])
def test_a_layer_is_the_same_whether_far_seats_are_summed_or_laid_out(near_seats: int) -> None:
    table, rng = spec("byteskille"), np.random.default_rng(1)
    layout = seat_layout(table)
    weight = rng.normal(size=(8, layout.pooled_size(near_seats))).astype(np.float32)
    for seats in (2, 3, 9, 20):
        seen, _ = decisions("byteskille", seats, table.resolve(episode="deal"), 4, 8)
        found = layout.split(reading("seats", table, seats)(seen))
        near = found.seats[:, :near_seats].reshape(len(seen), -1)
        far = found.seats[:, near_seats:].sum(axis=1)
        wanted = np.concatenate([found.table, near, far], axis=1) @ weight.T
        layer, bias = layout.unpooled(weight, seats)
        assert seen.astype(np.float32) @ layer.T + bias == pytest.approx(wanted, abs=1e-4)
