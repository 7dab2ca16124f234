"""A tabular policy of a whole match of Byteskille.

An observation has two halves: the state of the match, and the view of the hand, which names a row
of that state's hand. So a strategy of many states of the same few hands stays small.
"""

from collections.abc import Mapping

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular.files import Index
from kille_env.core.spec import width
from kille_env.errors import PolicyError
from kille_env.games.byteskille.rules import Action, Phase
from kille_env.play.policy import ObservationPolicy, check_probabilities, check_shapes
from kille_env.registry import Table, spec

FORMAT = "kille-match-table 1"
POT = "the match, one pot of its rules from the beginning,"

STANDING = ("redeals_left", "buying", "pot", "price", "entries", "declined", "still_in")
"""Parts of an observation that say how the match stands."""

SHARED = ("in_hand", "dealer")
"""Parts that belong to both halves: the seats of this hand, and the dealer."""

CAP = "deals_left"
"""The part that counts down to the cap on hands; it matters only if the cap was solved for."""

ARRAYS = (
    "hand_rows",  # [K, .] uint8, the visible part of the hands, see `hand_columns`
    "masks",  # [K, A] int8, the legal actions there
    "hands",  # [K] int32, the hand that each belongs to; rows of a hand stand together
    "state_hands",  # [S] int32, the hand that each state deals
    "standings",  # [Q, .] uint8, the standings of the match, see `standing_columns`
    "states",  # [Q] int32, the state of each
    # [S] int64, where the probabilities of a state begin in `played`: for each row of its hand, one
    # per legal action
    "begins",
    "played",  # float64
    "buy_rows",  # [B, .] uint8, the standings when a seat may buy in
    "buys",  # [B] float64, the probability that it does
)


class TabularMatchPolicy(ObservationPolicy):
    """A policy that looks up the state of the match and the observation of the hand."""

    def __init__(
        self,
        metadata: Metadata,
        capped: bool,  # whether the number of hands until the cap tells states apart
        arrays: Mapping[str, np.ndarray],  # see `ARRAYS`
        name: str = "match",
    ) -> None:
        """Check the arrays and index their rows."""
        self.metadata, self.capped, self.name = metadata, capped, name
        self.arrays = {key: np.ascontiguousarray(arrays[key]) for key in ARRAYS}
        a = self.arrays
        layout = spec(metadata.game).observation(metadata.num_players)
        self.width, self.actions = width(layout), len(spec(metadata.game).actions)
        self._phase_buying = (
            next(p.offset for p in layout if p.name == "phase") + Phase.BUYIN - Phase.TURN
        )
        self._hand_columns = hand_columns(metadata)
        self._standing_columns = standing_columns(metadata, capped)
        wide = (len(self._hand_columns), len(self._standing_columns), len(self._standing_columns))
        rows = ("hand_rows", "standings", "buy_rows")
        lists = ("hands", "state_hands", "states", "begins", "played", "buys")
        fits = (
            all(a[key].dtype == np.uint8 and a[key].ndim == 2 for key in rows)
            and wide == tuple(a[key].shape[1] for key in rows)
            and all(a[key].ndim == 1 for key in lists)
            and a["masks"].shape == (len(a["hand_rows"]), self.actions)
            and len(a["hands"]) == len(a["hand_rows"])
            and len(a["states"]) == len(a["standings"]) > 0
            and len(a["state_hands"]) == len(a["begins"])
            and len(a["buys"]) == len(a["buy_rows"])
        )
        if not fits:
            raise PolicyError(f"the arrays of the tabular policy {name} do not belong together")
        # Where the probabilities of each row begin, counted from the first row of its hand.
        sizes = a["masks"].sum(axis=1, dtype=np.int64)
        ends = np.cumsum(sizes)
        hand_begins = np.searchsorted(a["hands"], np.arange(a["hands"].max(initial=0) + 1))
        self._offset = ends - sizes - (ends - sizes)[hand_begins[a["hands"]]]
        starts = a["begins"][a["states"]]
        if not ((starts >= 0) & (starts < len(a["played"]))).all() or not all(
            ((a[key] >= 0.0) & (a[key] <= 1.0)).all() for key in ("played", "buys")
        ):
            raise PolicyError(f"the tabular policy {name} holds a value that is no probability")
        self._hand_index = Index(_of_hands(a["hand_rows"], a["hands"]), name, POT)
        self._standing_index = Index(a["standings"], name, POT)
        self._buy_index = Index(a["buy_rows"], name, POT)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table that it was made for."""
        return self.metadata.tables

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the stored probabilities, [N, A] float64; see `Policy`."""
        check_shapes(self.name, observation, mask, self.width, self.actions)
        a, probabilities = self.arrays, np.zeros(mask.shape)
        buying = observation[:, self._phase_buying] != 0
        stands = observation[:, self._standing_columns]
        bought = a["buys"][self._buy_index.find(stands[buying])]
        # Buying in happens between hands, so its rows have no hand.
        probabilities[buying, Action.BUY], probabilities[buying, Action.DECLINE] = (
            bought,
            1.0 - bought,
        )

        playing = np.flatnonzero(~buying)
        states = a["states"][self._standing_index.find(stands[playing])]
        seen = observation[playing][:, self._hand_columns]
        rows = self._hand_index.find(_of_hands(seen, a["state_hands"][states]))
        legal = a["masks"][rows] != 0
        # The probabilities of a row stand side by side, one for each legal action.
        first = a["begins"][states] + self._offset[rows]
        number = first[:, None] + np.cumsum(legal, axis=1) - 1
        inside = np.clip(number, 0, len(a["played"]) - 1)
        probabilities[playing] = np.where(legal, a["played"][inside], 0.0)
        check_probabilities(self.name, probabilities, mask)
        return probabilities


def _of_hands(rows: np.ndarray, hands: np.ndarray) -> np.ndarray:
    """Return rows with the number of their hand in front, as two hands can show the same."""
    numbers = np.ascontiguousarray(hands, dtype=np.int32).view(np.uint8).reshape(-1, 4)
    return np.column_stack([numbers, rows])


def standing_columns(metadata: Metadata, capped: bool) -> np.ndarray:
    """Return the entries of an observation about the state of the match."""
    return _columns(metadata, (*STANDING, *SHARED, *((CAP,) if capped else ())), True)


def hand_columns(metadata: Metadata) -> np.ndarray:
    """Return the entries of an observation about the hand."""
    return _columns(metadata, (*STANDING, CAP), False)


def _columns(metadata: Metadata, names: tuple[str, ...], named: bool) -> np.ndarray:
    """Return the entries of the parts with these names, or of all others."""
    parts = spec(metadata.game).observation(metadata.num_players)
    chosen = [np.arange(p.offset, p.offset + p.size) for p in parts if (p.name in names) == named]
    return np.concatenate(chosen)
