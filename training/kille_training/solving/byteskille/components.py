"""Strongly connected components of a graph, in an order in which they can be solved."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components


def components(leads: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Returns the strongly connected components of a graph, none before one that it leads to.

    Within a component, too, a node comes behind those that it leads to, as far as possible.

    Args:
        leads: For each node the nodes that it leads to.
    """
    graph = np.zeros((len(leads), len(leads)), dtype=np.bool_)
    for node, others in enumerate(leads):
        graph[node, list(others)] = True
    _, label = connected_components(graph, connection="strong")
    found: dict[int, list[int]] = {}
    for node in reversed(_finishing_order(leads)):
        found.setdefault(int(label[node]), []).append(node)
    return tuple(tuple(reversed(nodes)) for nodes in reversed(found.values()))


def _finishing_order(leads: Sequence[Sequence[int]]) -> list[int]:
    """Returns the nodes in the order in which a depth-first search leaves them."""
    order, entered = [], set()
    waiting = list(reversed(range(len(leads))))
    while waiting:
        node = waiting.pop()
        if node < 0:
            order.append(~node)
        elif node not in entered:
            entered.add(node)
            waiting += [~node, *reversed(leads[node])]
    return order
