#!/usr/bin/env python3
"""Writes epoch_order.txt: EpochOrder and SplitByFractions computed by other code than the product's.

Usage: epoch_order.py > epoch_order.txt
Philox4x32-10: Salmon et al., SC 2011. Bounded integers: Lemire 2019. Shuffle: Fisher-Yates, last position first.
"""

MASK = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(key, stream):
    block = 0
    while True:
        yield from philox([block & MASK, block >> 32, *stream], key)
        block += 1


def below(source, bound):
    product = next(source) * bound
    while product & MASK < (1 << 32) % bound:
        product = next(source) * bound
    return product >> 32


def permutation(key, stream, n):
    source, order = words(key, stream), list(range(n))
    for left in range(n, 1, -1):
        j = below(source, left)
        order[left - 1], order[j] = order[j], order[left - 1]
    return order


def epoch_order(seed, epoch, n):
    return permutation([seed, epoch & MASK], [epoch >> 32, 0], n)


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
    print("# over little-endian 32-bit words'; 'split SEED N TRAIN VAL TEST: graphs of train / val / test'.")
    for seed, epoch, n in [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 24), (0, 1, 24), (1, 0, 24), (7, 3, 24),
                           (MASK, MASK, 24), (0, 1 << 32, 24), (5, (1 << 64) - 1, 24)]:
        print(f"order {seed} {epoch} {n}:", *epoch_order(seed, epoch, n))
    for seed, epoch, n in [(0, 0, 100000), (0, 1, 100000), (12345, 678, 128744)]:
        print(f"hash {seed} {epoch} {n}: {fnv1a(epoch_order(seed, epoch, n))}")
    for seed, n, permille in [(0, 30, (800, 100, 100)), (3, 31, (500, 250, 250)), (0, 5, (0, 1000, 0))]:
        print(f"split {seed} {n}", *permille, end=": ")
        print(*(" ".join(map(str, part)) for part in splits(seed, n, permille)), sep=" / ")


if __name__ == "__main__":
    main()
