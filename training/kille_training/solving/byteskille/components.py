"""Strongly connected components of a graph."""

from collections.abc import Sequence


def components(leads: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Returns the strongly connected components of a graph, none before one that it leads to.

    Within a component, too, a node comes behind those that it leads to, as far as possible.
    The method is Tarjan's, SIAM J. Comput. 1972.

    Args:
        leads: For each node the nodes that it leads to.
    """
    entered, lowest, finished = [-1] * len(leads), [0] * len(leads), [0] * len(leads)
    waiting: list[int] = []
    inside = [False] * len(leads)
    found: list[tuple[int, ...]] = []
    entries = ends = 0
    for root in range(len(leads)):
        if entered[root] >= 0:
            continue
        path = [(root, 0)]
        while path:
            number, done = path.pop()
            if done == 0:
                entered[number] = lowest[number] = entries
                entries += 1
                waiting.append(number)
                inside[number] = True
            else:
                lowest[number] = min(lowest[number], lowest[leads[number][done - 1]])
            for place in range(done, len(leads[number])):
                following = leads[number][place]
                if entered[following] < 0:
                    path += [(number, place + 1), (following, 0)]
                    break
                if inside[following]:
                    lowest[number] = min(lowest[number], entered[following])
            else:
                finished[number] = ends
                ends += 1
                if lowest[number] == entered[number]:
                    component = waiting[waiting.index(number) :]
                    del waiting[-len(component) :]
                    for member in component:
                        inside[member] = False
                    found.append(tuple(sorted(component, key=finished.__getitem__)))
    return tuple(found)
