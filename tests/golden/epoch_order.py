#!/usr/bin/env python3
"""Writes epoch_order.txt: EpochOrder, WindowOrder and SplitByFractions computed by other code than the product's.

Usage: epoch_order.py > epoch_order.txt
Philox4x32-10: Salmon et al., SC 2011. Bounded integers: Lemire 2019. Shuffle: Fisher-Yates, last position first.
"""

import math

MASK = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(key, stream, substream=0):
    block = 0
    while True:
        yield from philox([block, substream, *stream], key)
        block += 1


def below(source, bound):
    product = next(source) * bound
    while product & MASK < (1 << 32) % bound:
        product = next(source) * bound
    return product >> 32


def shuffled(source, values):
    order = list(values)
    for left in range(len(order), 1, -1):
        j = below(source, left)
        order[left - 1], order[j] = order[j], order[left - 1]
    return order


def permutation(key, stream, n):
    return shuffled(words(key, stream), range(n))


def epoch_order(seed, epoch, n):
    return permutation([seed, epoch & MASK], [epoch >> 32, 0], n)


def window_order(seed, epoch, n, window):
    if n == 0:
        return []
    key, stream, run = [seed, epoch & MASK], [epoch >> 32, 3], math.isqrt(window)
    source = words(key, stream)
    begin = below(source, n)
    ring = [(begin + i) % n for i in range(n)]
    runs = shuffled(source, [ring[i:i + run] for i in range(0, n, run)])
    order = [graph for part in runs for graph in part]
    windows = [order[i:i + window] for i in range(0, n, window)]
    return [graph for w, part in enumerate(windows) for graph in shuffled(words(key, stream, w + 1), part)]


def splits(seed, n, permille):
    order = permutation([seed, 0], [0, 1], n)
    ends = [0, n * permille[0] // 1000, n * (permille[0] + permille[1]) // 1000, n]
    return [sorted(order[begin:end]) for begin, end in zip(ends, ends[1:])]


def fnv1a(values):
    digest = 0xCBF29CE484222325
    for value in values:
        for byte in value.to_bytes(4, "little"):
            digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return digest


def main():
    print("# Made by epoch_order.py. 'order SEED EPOCH N: the permutation'; 'hash SEED EPOCH N: its 64-bit FNV-1a")
    print("# over little-endian 32-bit words'; 'split SEED N TRAIN VAL TEST: graphs of train / val / test';")
    print("# 'window SEED EPOCH N K: the permutation', and 'hash-window ..: its FNV-1a'.")
    for seed, epoch, n in [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 24), (0, 1, 24), (1, 0, 24), (7, 3, 24),
                           (MASK, MASK, 24), (0, 1 << 32, 24), (5, (1 << 64) - 1, 24)]:
        print(f"order {seed} {epoch} {n}:", *epoch_order(seed, epoch, n))
    for seed, epoch, n in [(0, 0, 100000), (0, 1, 100000), (12345, 678, 128744)]:
        print(f"hash {seed} {epoch} {n}: {fnv1a(epoch_order(seed, epoch, n))}")
    for seed, n, permille in [(0, 30, (800, 100, 100)), (3, 31, (500, 250, 250)), (0, 5, (0, 1000, 0))]:
        print(f"split {seed} {n}", *permille, end=": ")
        print(*(" ".join(map(str, part)) for part in splits(seed, n, permille)), sep=" / ")
    for seed, epoch, n, window in [(0, 0, 0, 4), (0, 0, 1, 4), (0, 0, 24, 1), (0, 0, 24, 6), (0, 1, 24, 6), (1, 0, 24, 6),
                                   (7, 3, 26, 9), (MASK, MASK, 24, 24), (5, (1 << 64) - 1, 24, MASK)]:
        print(f"window {seed} {epoch} {n} {window}:", *window_order(seed, epoch, n, window))
    for seed, epoch, n, window in [(0, 0, 100000, 4096), (12345, 678, 128744, 1000), (3, 1 << 32, 65537, 2)]:
        print(f"hash-window {seed} {epoch} {n} {window}: {fnv1a(window_order(seed, epoch, n, window))}")


if __name__ == "__main__":
    main()
