"""Tallies of observations that are written down, and what statistics should make of them."""

import numpy as np
from scipy import stats

from kille_training.statistics.tally import ARRAYS, Tally


def everywhere(scores):
    """What the seats earn in each rotation if each place has its score, [G, P], from all seats."""
    scores = np.asarray(scores, float)
    seat = np.arange(scores.shape[1])
    return scores[:, (seat + seat[:, None]) % len(seat)]


def tallied(members, scores, deal=None, entrants=None):
    """A tally of observations at deals of their own, unless `deal` says otherwise."""
    members = np.array(members)
    tally = Tally.empty(members.shape[1], members.max() + 1 if entrants is None else entrants)
    deal = np.arange(len(members)) if deal is None else np.asarray(deal)
    tally.add(members, deal, everywhere(scores))
    return tally


def seen(members, earned):
    """Return the score and the shares of ranks of each entrant; `earned` is [P, P]."""
    seats, at = len(members), range(len(members))
    units, shares = {}, {}
    mean = sum(earned[turn][seat] for turn in at for seat in at) / seats**2
    for turn in at:
        order = sorted(set(earned[turn]), reverse=True)
        for seat in at:
            entrant = members[(seat + turn) % seats]
            first = sum(
                list(earned[turn]).count(more) for more in order if more > earned[turn][seat]
            )
            ties = list(earned[turn]).count(earned[turn][seat])
            share = [1 / ties if first <= rank < first + ties else 0 for rank in at]
            units.setdefault(entrant, []).append(earned[turn][seat] - mean)
            shares.setdefault(entrant, []).append(share)
    return {each: (np.mean(units[each]), np.mean(shares[each], axis=0)) for each in units}


def clustered(values, deal):
    """Return mean, ends, error and degrees of freedom of values [N], clustered by deal [N]."""
    _, cluster = np.unique(deal, return_inverse=True)
    size = np.bincount(cluster)
    if len(size) < 2:
        return np.full(5, np.nan)
    share, mean = size / size.sum(), np.mean(values)
    residual = np.bincount(cluster, values - mean) / size.sum() / np.sqrt(1 - share)
    error = np.sqrt((residual**2).sum())
    away = np.eye(len(size)) - np.outer(share, np.ones(len(size)))
    form = away.T @ np.diag(1 / (1 - share)) @ away @ np.diag(share**2)
    freedom = np.trace(form) ** 2 / np.trace(form @ form)
    half = stats.t.ppf(0.975, freedom) * error
    return np.array([mean, mean - half, mean + half, error, freedom])


def same(one, other):
    """Whether two tallies are the same to the byte."""
    return one.observations == other.observations and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS
    )
