#!/usr/bin/env python3
"""Writes node_numbering.txt: the numbering of ReverseCuthillMckee, computed by other code than the product's.

Usage: node_numbering.py > node_numbering.txt
The graphs are the first ones of the samples in tests/data, and a few made by hand.
"""

import collections
import gzip
import json
import pathlib
import random

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
MAX_STARTS = 16


def neighbours(n_node, edges):
    joined = [set() for _ in range(n_node)]
    for a, b in edges:
        if a != b:
            joined[a].add(b)
            joined[b].add(a)
    return joined


def distances(root, joined):
    found, waiting = {root: 0}, collections.deque([root])
    while waiting:
        node = waiting.popleft()
        for other in joined[node] - found.keys():
            found[other] = found[node] + 1
            waiting.append(other)
    return found


def start_of(component, joined):
    def least(nodes):
        return min(nodes, key=lambda node: (len(joined[node]), node))

    start = least(component)
    depths = distances(start, joined)
    for _ in range(MAX_STARTS):
        depth = max(depths.values())
        start = least(node for node in depths if depths[node] == depth)
        depths = distances(start, joined)
        if max(depths.values()) <= depth:
            break
    return start


def numbering(n_node, edges):
    """By number, the index of the node as read."""
    joined = neighbours(n_node, edges)
    order, placed = [], set()
    for node in range(n_node):
        if node in placed:
            continue
        component = [start_of(distances(node, joined).keys(), joined)]
        placed.add(component[0])
        for member in component:  # grows meanwhile
            for other in sorted(joined[member] - placed, key=lambda other: (len(joined[other]), other)):
                placed.add(other)
                component.append(other)
        order += reversed(component)
    return order


def bandwidth(edges):
    return max((abs(a - b) for a, b in edges), default=0)


def tudataset(name, graphs):
    folder = DATA / "tudataset" / name
    owners = [int(line) for line in (folder / f"{name}_graph_indicator.txt").read_text().split()]
    pairs = [tuple(int(end) - 1 for end in line.split(",")) for line in (folder / f"{name}_A.txt").read_text().splitlines()]
    for graph in range(1, graphs + 1):
        first = owners.index(graph)
        edges = [(a - first, b - first) for a, b in pairs if owners[a] == graph]
        yield f"{name}-{graph}", owners.count(graph), edges


def records(name, graphs):
    with gzip.open(DATA / "jsonl" / f"{name}.jsonl.gz", "rt") as file:
        for number, line in zip(range(1, graphs + 1), file):
            record = json.loads(line)
            if "node_features" in record:
                yield f"{name}-{number}", len(record["node_features"]), [(a, b) for a, _, b in record["graph"]]
            else:
                yield f"{name}-{number}", len(record["source_tokens"]), [(edge[0], edge[1]) for edge in record["edges"]]


def grid(rows, columns, seed):
    names = list(range(rows * columns))
    random.Random(seed).shuffle(names)
    at = {(r, c): names[r * columns + c] for r in range(rows) for c in range(columns)}
    edges = [(at[r, c], at[r + dr, c + dc]) for r, c in at for dr, dc in ((0, 1), (1, 0)) if (r + dr, c + dc) in at]
    return f"grid-{rows}x{columns}", rows * columns, edges


def by_hand():
    yield "node", 1, []
    yield "apart", 4, []
    yield "loops", 3, [(0, 0), (2, 2), (0, 2)]
    yield "path", 6, [(0, 3), (3, 1), (1, 5), (5, 2), (2, 4)]
    yield "star", 5, [(3, 0), (3, 1), (3, 2), (3, 4)]
    yield "parts", 9, [(0, 7), (7, 2), (2, 0), (1, 8), (8, 5), (5, 6), (4, 4)]
    yield grid(5, 9, 1)


def main():
    print("# Made by node_numbering.py: 'graph NAME N: A-B ...', its edges; 'nodes BEFORE AFTER: ...', its bandwidth as read")
    print("# and renumbered, and by number the index of the node as read.")
    graphs = [*by_hand(), *records("qm9_graphs", 4), *records("great", 3), *tudataset("MUTAG", 2), *tudataset("ENZYMES", 2)]
    for name, n_node, edges in graphs:
        nodes = numbering(n_node, edges)
        number = {node: k for k, node in enumerate(nodes)}
        renumbered = bandwidth([(number[a], number[b]) for a, b in edges])
        print(f"graph {name} {n_node}:", *(f"{a}-{b}" for a, b in edges))
        print(f"nodes {bandwidth(edges)} {renumbered}:", *nodes)


if __name__ == "__main__":
    main()
