#!/usr/bin/env python3
"""Writes expected.json: what `dynamic`, `packed`, `tuple` and `static` must give on the size lists of this folder, walked in file
order, by other code than the product's. Integers only, save for the fills.

Usage: reference.py > expected.json   (in this folder)
B is the batch size that counts the padding graph: G = B - 1 real graphs.
"""

import json
import math
from collections import Counter

LISTS = {
    "qm9": "qm9_full_sizes.txt",
    "qm9_import_order": "qm9_import_order_sizes.txt",
    "mp_knn12": "mp_knn12_sizes.txt",
    "hiv": "hiv_sizes.txt",
    "pcqm4mv2_heavy": "pcqm4mv2_heavy_sizes.txt",
    "great": "great_sizes.txt",
}


def up64(v):
    return -(-v // 64) * 64


def next64(v):
    return (v // 64 + 1) * 64


def pow2(v):
    p = 2
    while p < v:
        p *= 2
    return p


def describe(sums, pad):
    shapes = [pad(n, e) for n, e in sums]
    return {
        "batches": len(sums),
        "shapes": len(Counter(shapes)),
        "node_fill": round(sum(n for n, _ in sums) / sum(n for n, _ in shapes), 6),
        "edge_fill": round(sum(e for _, e in sums) / sum(e for _, e in shapes), 6),
    }


def dynamic(sizes, graphs, nodes, edges):
    sums, batch = [], []
    for size in sizes:
        grown = batch + [size]
        if len(grown) > graphs or sum(n for n, _ in grown) > nodes - 1 or sum(e for _, e in grown) > edges:
            sums.append(tuple(map(sum, zip(*batch))))
            grown = [size]
        batch = grown
    return sums + [tuple(map(sum, zip(*batch)))]


def best_fit(window, graphs, nodes, edges, room_n, room_e):
    """Positions of the graph or pair of the largest value that fits; the first of equals, a graph before a pair."""
    shift = max(0, (2 * nodes * edges).bit_length() - 30)
    value = [(n * edges + e * nodes) >> shift for n, e in window]
    fits = [i for i, (n, e) in enumerate(window) if n <= room_n and e <= room_e]
    sets = [(value[i], (i,)) for i in fits]
    if graphs > 1:
        sets += [
            (value[i] + value[j], (i, j))
            for i in fits
            if i < 16
            for j in range(i + 1, len(window))
            if window[i][0] + window[j][0] <= room_n and window[i][1] + window[j][1] <= room_e
        ]
    return max(sets, key=lambda s: s[0])[1] if sets else ()


def packed(sizes, graphs, nodes, edges):
    near_n = 5 * sum(n for n, _ in sizes) // (2 * len(sizes))
    near_e = 5 * sum(e for _, e in sizes) // (2 * len(sizes))
    left, sums = list(sizes), []
    while left:
        room_g, room_n, room_e, chosen = graphs, nodes - 1, edges, (0,)
        while chosen:
            for i in reversed(chosen):
                n, e = left.pop(i)
                room_g, room_n, room_e = room_g - 1, room_n - n, room_e - e
            window = left[:64]
            if room_g == 0:
                chosen = ()
            elif room_g > 2 and room_n > near_n and room_e > near_e:
                chosen = next(((i,) for i, (n, e) in enumerate(window) if n <= room_n and e <= room_e), ())
            else:
                chosen = best_fit(window, room_g, nodes, edges, room_n, room_e)
        sums.append((nodes - 1 - room_n, edges - room_e))
    return sums


def dealt(sizes):
    """The sizes sorted, in steps of about the golden ratio of their number."""
    count, by_size = len(sizes), sorted(sizes)
    step = count * 618034 // 1000000
    while math.gcd(step, count) != 1:
        step += 1
    return [by_size[i * step % count] for i in range(count)]


def reference(sizes, b):
    g, count = b - 1, len(sizes)
    total_n, total_e = map(sum, zip(*sizes))
    max_n, max_e = map(max, zip(*sizes))
    nodes = max(next64(total_n * b // count), next64(max_n))
    edges = max(next64(total_e * b // count), next64(max_e))
    chunks = [tuple(map(sum, zip(*sizes[k : k + g]))) for k in range(0, count, g)]
    return {
        "budget": {"nodes": nodes, "edges": edges},
        "dynamic": describe(dynamic(sizes, g, nodes, edges), lambda n, e: (nodes, edges)),
        "packed": describe(packed(sizes, -(-5 * b // 4), nodes, edges), lambda n, e: (nodes, edges)),
        "tuple": describe(packed(dealt(sizes), -(-5 * b // 4), nodes, edges), lambda n, e: (nodes, edges)),
        "static_multiple": describe(chunks, lambda n, e: (up64(n + 1), up64(e))),
        "static_pow2": describe(chunks, lambda n, e: (pow2(n + 1), pow2(e))),
        "static_constant": describe(chunks, lambda n, e: (next64(max_n * b) + 1, next64(max_e * b))),
        "bound_batches": max(-(-total_n // (nodes - 1)), -(-total_e // edges)),
    }


def main():
    expected = {"lists": LISTS}
    for name, file in LISTS.items():
        with open(file, encoding="ascii") as lines:
            sizes = [tuple(map(int, line.split())) for line in lines]
        expected[name] = {
            "graphs": len(sizes),
            "by_batch_size": {str(b): reference(sizes, b) for b in (16, 32, 64, 128)},
        }
    print(json.dumps(expected, indent=1))


if __name__ == "__main__":
    main()
