"""Neighbours of periodic structures as ASE finds them: writes neighbours.txt. Needs ase, numpy.

    python3 reference.py /path/to/crystals/extxyz > neighbours.txt
"""

import pathlib
import sys

import ase
import ase.io
import numpy as np
from ase.neighborlist import neighbor_list

K = 12


def neighbours(atoms, cutoff):
    i, j, d, s = neighbor_list("ijdS", atoms, cutoff)
    return sorted((int(a), float(x), int(b), tuple(int(v) for v in t)) for a, b, x, t in zip(i, j, d, s))


def nearest(atoms, k):
    """The k + 1 nearest of every atom, by distance."""
    cutoff = 2.0
    while True:
        found = neighbours(atoms, cutoff)
        if min(np.bincount([a for a, *_ in found], minlength=len(atoms))) > k:
            break
        cutoff *= 1.4
    return [row for a in range(len(atoms)) for row in [r for r in found if r[0] == a][: k + 1]]


def radius(atoms):
    """A radius near 5 with no distance close to it."""
    distances = np.array(sorted(d for _, d, *_ in neighbours(atoms, 5.6)))
    for r in np.arange(5.0, 5.5, 0.01):
        if len(distances) == 0 or np.min(np.abs(distances - r)) > 2e-3:
            return round(float(r), 2)
    raise ValueError("no radius")


def write(name, atoms):
    print("structure", name, len(atoms), *(int(p) for p in atoms.pbc))
    for row in list(atoms.cell) + list(atoms.positions):
        print(*(repr(float(v)) for v in row))
    near = nearest(atoms, K)
    print("knn", K, len(near))
    for a, d, b, s in near:
        print(b, a, *s, f"{d:.6f}")
    r = radius(atoms)
    within = neighbours(atoms, r)
    print("radius", r, len(within))
    for a, d, b, s in within:
        print(b, a, *s, f"{d:.6f}")


def find(folder, file, **wanted):
    for atoms in ase.io.iread(folder / file, format="extxyz"):
        if all(atoms.info.get(k) == v for k, v in wanted.items()):
            return atoms
    raise ValueError(wanted)


def main():
    here = pathlib.Path(__file__).parent
    for atoms in ase.io.read(here / "mp_sample.extxyz", index=":"):
        if len(atoms) <= 12:
            write(atoms.info["id"], atoms)
    one = ase.Atoms("Po", positions=[[0.3, -7.0, 40.0]], cell=[3.35] * 3, pbc=True)
    write("one_atom_outside_its_cell", one)
    hcp = ase.Atoms("Mg2", cell=[[3.2, 0, 0], [-1.6, 2.771281, 0], [0, 0, 5.2]], pbc=True)
    hcp.set_scaled_positions([[1 / 3, 2 / 3, 0.25], [2 / 3, 1 / 3, 0.75]])
    write("hexagonal", hcp)
    skewed = ase.Atoms("NaCl", cell=[[4, 0, 0], [37.7, 3.9, 0], [-61.2, 50.1, 4.4]], pbc=True)
    skewed.set_scaled_positions([[0.1, 0.2, 0.3], [0.55, 0.75, 0.9]])
    write("skewed", skewed)
    flat = ase.Atoms("C3", cell=[[30, 0, 0], [0, 28, 0], [0, 0, 1.1]], pbc=True)
    flat.positions[:] = [[1, 1, 0.2], [29, 27.5, 0.9], [15, 3, 0.5]]
    write("flat", flat)
    slab = ase.Atoms("C2", cell=[[2.46, 0, 0], [-1.23, 2.130422, 0], [0, 0, 0]], pbc=[1, 1, 0])
    slab.positions[:] = [[0, 0, 0], [0, 1.420281, 0.4]]
    write("slab_without_third_vector", slab)
    chain = ase.Atoms("CHH", cell=[[50, 0, 0], [0, 2.5, 0.5], [0, 0, 50]], pbc=[0, 1, 0])
    chain.positions[:] = [[0, 0, 0], [1.0, 0.4, 0], [-4.0, 5.4, 3]]
    write("chain_along_the_second_vector", chain)


if __name__ == "__main__":
    main()
