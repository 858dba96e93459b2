#!/usr/bin/env python3
"""Writes supergraph_plan.txt: plans and tables of supergraphs, computed by other code than the product's.

Usage: supergraph_plan.py > supergraph_plan.txt
Supergraphs: arXiv 1906.11786. Order of an epoch: epoch_order.py.
"""

from epoch_order import epoch_order

GRAPHS = [(n, g * 104729 % (3 * n), g * 1299709 % n) for g in range(60) for n in [1 + g * 7919 % 37]]  # n, edges, w


def up64(value):
    return -(-value // 64) * 64


def cut(order, slots, max_graphs, holds, oversize):
    batches, batch, aside = [], [], []
    for graph in order:
        if not holds(graph):
            aside.append(graph)
        elif batch and (len(batch) == max_graphs or sum(GRAPHS[g][0] for g in [*batch, graph]) > slots - 1):
            batches += [batch, *([g] for g in aside)]
            batch, aside = [graph], []
        else:
            batch.append(graph)
    batches += [batch, *([g] for g in aside)]
    return [b for b in batches if b and (oversize == "alone" or holds(b[0]))]


def alone(graph):
    nodes, edges, width = GRAPHS[graph]
    block = max(64, up64(width))
    slots = -(-nodes // block) * block
    return 2, slots, up64(edges) if slots > nodes else edges, block


def plan(seed, epoch, blocks, block, max_graphs, oversize):
    def holds(graph):
        return GRAPHS[graph][0] < blocks * block and GRAPHS[graph][2] <= block

    order = range(len(GRAPHS)) if seed is None else epoch_order(seed, epoch, len(GRAPHS))
    batches = cut(order, blocks * block, max_graphs or blocks * block, holds, oversize)
    most = max((sum(GRAPHS[g][1] for g in b) for b in batches if holds(b[0])), default=0)
    whole = ((max_graphs or blocks * block) + 1, blocks * block, most, block)
    return [(b, whole if holds(b[0]) else alone(b[0])) for b in batches]


def row(column, limit, slots):
    def holds(graph):
        return GRAPHS[graph][column] <= limit and GRAPHS[graph][0] < slots

    kept = sum(map(holds, range(len(GRAPHS))))
    return kept, len(cut(range(len(GRAPHS)), slots, slots, holds, "skip"))


def main():
    print("# Made by supergraph_plan.py. 'graphs: nodes edges bandwidth, ..'; 'plan SEED EPOCH K S M OVERSIZE: graphs /")
    print("# slots of graphs, nodes, edges and a block; ..', SEED - for the order of the data set, M - for none given;")
    print("# 'nodes|bandwidth K S LIMIT: graphs kept, supergraphs', in the order of the data set.")
    print("graphs:", ", ".join(" ".join(map(str, graph)) for graph in GRAPHS))
    for seed, epoch, blocks, block, max_graphs, oversize in [
            (None, 0, 4, 32, None, "alone"), (None, 0, 5, 9, None, "alone"), (None, 0, 5, 9, None, "skip"),
            (0, 0, 5, 9, None, "alone"), (0, 1, 5, 9, None, "alone"), (7, 3, 8, 40, 6, "alone"),
            (7, 3, 1, 16, None, "skip")]:
        batches = plan(seed, epoch, blocks, block, max_graphs, oversize)
        print("plan", *("-" if value is None else value for value in (seed, epoch, blocks, block, max_graphs, oversize)),
              end=": ")
        print("; ".join(f"{' '.join(map(str, graphs))} / {' '.join(map(str, shape))}" for graphs, shape in batches))
    for by, column in (("nodes", 0), ("bandwidth", 2)):
        for limit in (1, 2, 4, 8, 16, 32):
            kept, supergraphs = row(column, limit, 5 * 9)
            print(f"{by} 5 9 {limit}: {kept} {supergraphs}")


if __name__ == "__main__":
    main()
