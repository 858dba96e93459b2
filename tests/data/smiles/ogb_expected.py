"""Writes the expected nodes and edges of the samples in this folder and in ../sdf, by other code than the tree's.

    python3 ogb_expected.py FEATURES > ogb_expected.txt

FEATURES is ogb/utils/features.py of the ogb package (1.3.6), whose atom_to_feature_vector says what node features are. Needs
RDKit's Python package; the file here was written with 2022.09.5.

A line a molecule: file, record, whether RDKit sanitises it, atoms as nine integers each, bonds as FROM-TO:TYPE with OGB's number
of the type (single 0, double 1, triple 2, aromatic 3, misc 4).
"""
import csv
import importlib.util
import os
import sys

from rdkit import Chem, RDLogger

FOLDER = os.path.dirname(os.path.abspath(__file__))
WITHOUT_CHECKS = (Chem.SANITIZE_SYMMRINGS | Chem.SANITIZE_SETCONJUGATION | Chem.SANITIZE_SETHYBRIDIZATION |
                  Chem.SANITIZE_SETAROMATICITY | Chem.SANITIZE_FINDRADICALS)


def ogb_features(path):
    spec = importlib.util.spec_from_file_location("features", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unsanitized(molecule):
    molecule.UpdatePropertyCache(strict=False)
    Chem.SanitizeMol(molecule, WITHOUT_CHECKS)
    return molecule


def molecules_of_smiles(name, column):
    with open(os.path.join(FOLDER, name), newline="") as file:
        for row in csv.DictReader(file):
            molecule = Chem.MolFromSmiles(row[column])
            yield molecule or unsanitized(Chem.MolFromSmiles(row[column], sanitize=False)), molecule is not None


def molecules_of_sdf(name):
    path = os.path.join(FOLDER, "..", "sdf", name)
    pairs = zip(Chem.SDMolSupplier(path, removeHs=False), Chem.SDMolSupplier(path, removeHs=False, sanitize=False))
    for molecule, plain in pairs:
        yield molecule or unsanitized(plain), molecule is not None


def main():
    RDLogger.DisableLog("rdApp.*")
    features = ogb_features(sys.argv[1])
    types = features.allowable_features["possible_bond_type_list"]
    sources = {"hiv_sample.csv": molecules_of_smiles("hiv_sample.csv", "smiles"),
               "pcqm4mv2_sample.csv": molecules_of_smiles("pcqm4mv2_sample.csv", "smiles"),
               "gdb_sample.sdf": molecules_of_sdf("gdb_sample.sdf")}
    for name, molecules in sources.items():
        for record, (molecule, sanitized) in enumerate(molecules, 1):
            atoms = ";".join(",".join(map(str, features.atom_to_feature_vector(atom))) for atom in molecule.GetAtoms())
            bonds = ";".join(f"{bond.GetBeginAtomIdx()}-{bond.GetEndAtomIdx()}:"
                             f"{features.safe_index(types, str(bond.GetBondType()))}" for bond in molecule.GetBonds())
            print(name, record, "sanitized" if sanitized else "unsanitized", atoms, bonds or "-")


if __name__ == "__main__":
    main()
