"""What the files of $PACKTRAIN_DATA hold, by hand from their READMEs and stats.json: the table of every_file_test.py."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """One import. `files` are relative to $PACKTRAIN_DATA; a name that ends in "/" is a folder.

    `refused`: how many graphs by reason; None: of any reasons, `read` less `stored` in all. `error`: a part of the message
    of an import that stores nothing. What is None is not compared.
    """
    files: tuple
    format: str
    read: int = None
    stored: int = None
    nodes: int = None
    edges: int = None
    refused: dict = dataclasses.field(default_factory=dict)
    flags: tuple = ()
    targets: tuple = None
    passed_over: int = 0
    error: str = None


def good(files, format, graphs, nodes=None, edges=None, *flags, **more):
    """Every graph is stored."""
    files = (files,) if isinstance(files, str) else tuple(files)
    return Row(files, format, graphs, graphs, nodes, edges, flags=flags, **more)


def bad(file, format, error, *flags):
    """Nothing is stored."""
    return Row((file,), format, error=error, flags=flags)


KNN24 = ("--edges", "knn:24")
SPARSE = ("--missing-target", "nan")
KNN12 = ("--edges", "knn:12")

QM9 = [
    good("qm9/geometry/", "extxyz", 128744, 2330532, 40914584, *KNN24),
    good(["qm9/graphs/valid.jsonl.gz", "qm9/graphs/test.jsonl.gz"], "jsonl", 20000, 361505, 747940),
    good("qm9/smiles/qm9_smiles.txt.gz", "smiles", 133885, 1177631, 2517932),
    # The sum of the first lines of the files.
    good("qm9/raw_xyz/", "qm9-xyz", 20, 226),
    good("qm9/sdf/qm9_mini.sdf", "sdf", 21),
    good("qm9/sdf/gdb1k.sdf.gz", "sdf", 1000),
    good("qm9/targets/micro_qm9.csv", "smiles", 1006),
    bad("qm9/asedb/test_qm9.db", "extxyz", "NUL byte"),
]

CRYSTALS = [
    good("crystals/mp_3dsc/mp_cifs.tar.gz", "cif", 4704, 90104, 1081248, *KNN12),
    good("crystals/extxyz/mp_3dsc.extxyz.gz", "extxyz", 4704, 90104, 1081248, *KNN12),
    good("crystals/extxyz/mp_3dsc.extxyz.gz", "extxyz", 4704, 90104, 2162496, *KNN24),
    good("crystals/extxyz/perovskites.extxyz.gz", "extxyz", 18928, 94640, 2271360, *KNN24),
    good("crystals/extxyz/carbon_24.extxyz.gz", "extxyz", 4062, 37338, 896112, *KNN24),
    good("crystals/extxyz/dielectric.extxyz.gz", "extxyz", 1056, 7952, 190848, *KNN24),
    good("crystals/extxyz/piezoelectric.extxyz.gz", "extxyz", 941, 7513, 180312, *KNN24),
    good("crystals/extxyz/phonons.extxyz.gz", "extxyz", 1265, 9521, 228504, *KNN24),
    # Labels repeat 15 times.
    good("crystals/extxyz/aflow_prototypes.extxyz.gz", "extxyz", 288, 3434, 82416, *KNN24, "--duplicate-ids", "number"),
    Row(("crystals/extxyz/aflow_prototypes.extxyz.gz",), "extxyz", 288, 273, refused={"duplicate_id": 15}),
    good("crystals/extxyz/jarvis_sample.extxyz.gz", "extxyz", 70, 888, 21312, *KNN24),
    good("crystals/jarvis/poscar_sample.tar.gz", "poscar", 70, 888, 21312, *KNN24, passed_over=1),
    # Crystals as dictionaries and tables of them, and answers without coordinates.
    bad("crystals/perovskites/perovskite.json.gz", "jsonl", "perovskite.json.gz"),
    bad("crystals/phonons/matbench_phonons.json.gz", "jsonl", "matbench_phonons.json.gz"),
    bad("crystals/aflow/aflow_prototypes.json.gz", "jsonl", "aflow_prototypes.json.gz"),
    bad("crystals/aflow/aflux_response_0.json", "jsonl", "aflux_response_0.json"),
    bad("crystals/aflow/aflux_response_1.json", "jsonl", "aflux_response_1.json"),
    bad("crystals/carbon_24/test.csv.gz", "smiles", "test.csv.gz"),
    bad("crystals/carbon_24/val.csv.gz", "smiles", "val.csv.gz"),
    bad("crystals/dielectric/dielectric_constant.csv.gz", "smiles", "dielectric_constant.csv.gz"),
    bad("crystals/piezoelectric/piezoelectric_tensor.csv.gz", "smiles", "piezoelectric_tensor.csv.gz"),
]

MOLECULES = [
    good("molecules/100kPCS_fragment.csv.gz", "smiles", 99991, 2430595, 5208404, "--duplicate-ids", "number"),
    good("molecules/muv.csv.gz", "smiles", 93127, 2256729, 4894162, *SPARSE),
    good("molecules/HIV.csv.gz", "smiles", 41913, 1069968, 2303884),
    good("molecules/tox21.csv.gz", "smiles", 8014, 148350, 308220, *SPARSE),
    good("molecules/lipo.csv.gz", "smiles", 4200, 113568, 247798),
    good("molecules/ESOL_delaney-processed.csv", "smiles", 1128, 14991, 30856),
    # Hydrogens are explicit in the file.
    good("pcqm4mv2/pcqm4mv2-2k.csv.gz", "smiles", 1999, 57888, 118000, "--hydrogens", "keep", targets=("homo",)),
    good("pcqm4mv2/pcqm4mv2-2k.csv.gz", "smiles", 1999, 29755, targets=("homo",)),
    good("pcqm4mv2/pcqm4mv2-2k.xyz.gz", "extxyz", 1999, 57888, 1359430, *KNN24, targets=("homo",)),
]

PROGRAMS = [
    good("program/great_varmisuse/dev_permissive.jsonl.gz", "jsonl", 2246, 235055, 390222),
    good("program/exprsynth_csharp/exprs-graph.0.jsonl.gz", "jsonl", 15, 7364, 14782),
    bad("program/exprsynth_csharp/exprs-types.json.gz", "jsonl", "exprs-types.json.gz"),
    bad("program/programl/program.pbtxt", "jsonl", "program.pbtxt"),
]

FOLDERS = [
    good("tudataset/MUTAG/", "tudataset", 188, 3371, 7442),
    good("tudataset/ENZYMES.tar.gz", "tudataset", 600, 19580, 74564),
    good("tudataset/PROTEINS_full.tar.gz", "tudataset", 1113, 43471, 162088),
    good("tudataset/NCI1.tar.gz", "tudataset", 4110, 122747, 265506),
    good("tudataset/PTC_MR.tar.gz", "tudataset", 344, 4915, 10108),
    # Its numbers are invented: 20 edges of three columns, between nodes up to 19 of 10.
    bad("awkward/ogb_csv_layout/", "ogb-csv", "but the graph has nodes 0 to 9"),
]

AWKWARD = [
    good("awkward/duplicates/qm9_smiles_with_duplicates.csv.gz", "smiles", 133247),
    # [CL-] is no element.
    Row(("awkward/graphium/single_atom_dataset.csv",), "smiles", 7, 6, 6, 0, {"bad_smiles": 1}, targets=("score",)),
    *[Row(("awkward/graphium/micro_ZINC_corrupt.csv",), "smiles", 200, 200 - corrupt, refused={"bad_smiles": corrupt},
          flags=("--smiles", column), targets=("SA", "logp", "score"))
      for column, corrupt in (("SMILES1", 3), ("SMILES2", 4), ("SMILES3", 3))],
    bad("awkward/lfs_pointer/FRANKENSTEIN_node_attributes.txt", "tudataset",
        "a Git LFS pointer in place of the data (111718516 bytes)"),
    bad("awkward/rdkit/empty.xyz", "extxyz", "empty.xyz"),
    bad("awkward/rdkit/empty.sdf", "sdf", "empty.sdf"),
    bad("awkward/rdkit/empty2.sdf", "sdf", "empty2.sdf"),
    bad("awkward/rdkit/empty.smi", "smiles", "empty.smi"),
    bad("awkward/rdkit/nonexistant.xyz", "extxyz", "nonexistant.xyz:1: frame 1 (nonexistant): the frame has no atoms"),
    bad("awkward/rdkit/Issue3482695.sdf", "sdf", "Issue3482695.sdf"),
    good("awkward/rdkit/missingCR.sdf", "sdf", 1, 1, 0),
    bad("awkward/rdkit/mol_noatoms.mol2", "sdf", "mol_noatoms.mol2"),
    bad("awkward/rdkit/mol_nomol.mol2", "sdf", "mol_nomol.mol2"),
    bad("awkward/rdkit/sdErrors1.sdf", "sdf", "sdErrors1.sdf:15: molecule 1 (sdErrors1): the data item has no name"),
    good("awkward/rdkit/sdErrors2.sdf", "sdf", 1, 6, 10),
    bad("awkward/rdkit/sdErrors3.sdf", "sdf", "sdErrors3.sdf"),
    bad("awkward/rdkit/sdErrors4.sdf", "sdf", "sdErrors4.sdf"),
    # The seven lines that its first record skips are the end of that and the head of the next one.
    good("awkward/rdkit/SkipLines.sdf", "sdf", 1, 1, 0),
    good("awkward/rdkit/O2.sdf", "sdf", 1, 2, 2),
    good("awkward/rdkit/acetate.xyz", "extxyz", 1),
    good("awkward/rdkit/ethane.xyz", "extxyz", 1, 8),
    good("awkward/rdkit/chiral_flag_bom.mol", "sdf", 1, 5, 8),
]

REPORTS = [
    bad("reports/bzip2/one.xyz.bz2", "extxyz", "bzip2"),
    good("reports/case/lower_all.xyz", "extxyz", 4, 8, 8 * 12, *KNN12, targets=("energy",)),
    good("reports/case/lower_properties_moves_columns.xyz", "extxyz", 4, 8, targets=("energy",)),
    good("reports/case/numbers_column.xyz", "extxyz", 2, 4, 4 * 12, *KNN12, targets=("energy",)),
    # Not periodic: an edge from each of two atoms.
    good("reports/case/upper_pbc.xyz", "extxyz", 4, 8, 8, *KNN12, targets=("energy",)),
    bad("reports/contradiction/species_and_z.xyz", "extxyz", "species_and_z.xyz"),
    good("reports/commas/lattice.xyz", "extxyz", 1, 1),
    good("reports/ensemble/crest.xyz", "extxyz", 6, 18, targets=("energy",)),
    good("reports/ensemble/etot.xyz", "extxyz", 6, 18, targets=("Etot",)),
    good("reports/ensemble/titled.xyz", "extxyz", 6, 18, targets=()),
    good("reports/ensemble/xtbopt.xyz", "extxyz", 6, 18),
    good(["reports/ensemble/a/mol.xyz", "reports/ensemble/b/mol.xyz"], "extxyz", 2),
    good("reports/fortran/energy.xyz", "extxyz", 5, targets=("charge", "energy")),
    good("reports/fortran/energy_first_only.xyz", "extxyz", 5),
    good("reports/fortran/positions.xyz", "extxyz", 1, 2),
    good("reports/forms/energy_one_element.xyz", "extxyz", 2, 4, targets=("energy",)),
    *[good(f"reports/forms/{name}.xyz", "extxyz", 1, 2, targets=("energy",))
      for name in ("bool_upper", "lattice_3x3", "lattice_braces", "lattice_vector")],
    bad("reports/ipi/forces.xyz", "extxyz", "forces"),
    good("reports/ipi/positions_angstrom.xyz", "extxyz", 1, 2),
    good("reports/ipi/positions_bohr.xyz", "extxyz", 1, 2),
    good("reports/isolated/atom_first.xyz", "extxyz", 8),
    good("reports/isolated/atom_last.xyz", "extxyz", 8),
    good("reports/late_key/band.xyz", "extxyz", 3, 3, None, targets=()),
    good("reports/late_key/band.xyz", "extxyz", 3, 3, None, *SPARSE, targets=("energy",)),
    good([f"reports/raw/mol_00000{k}.xyz" for k in (1, 2, 3)], "qm9-xyz", 3, 12),
    bad("reports/raw/mol_000001.xyz", "extxyz", "qm9-xyz"),
    bad("reports/raw/whole_number_line.xyz", "extxyz", "qm9-xyz"),
    bad("reports/raw/whole_number_line.xyz", "qm9-xyz", "whole_number_line.xyz"),
    *[good(f"reports/tiny/n{n}.xyz", "extxyz", n, 3 * n, None, "--split-permille", "800,100,100")
      for n in (1, 2, 3, 5, 9, 11)],
    bad("reports/types/dump.xyz", "extxyz", "--species-are-numbers"),
    good("reports/types/numbers.xyz", "extxyz", 1, 2),
    good("reports/unicode/mols.xyz", "extxyz", 10, 30),
    good("reports/unicode/mols.xyz", "extxyz", 10, 30, None, "--join", "reports/unicode/t.csv", "--key", "id",
         targets=("ΔE_formation", "energy", "E₀ (eV)", "能量", "é")),
    good("reports/vectors_after/cell.xyz", "extxyz", 1, 2, 2 * 12, *KNN12),
    *[Row((f"reports/cells/mols.xyz",), "extxyz", 40, 40, flags=("--join", f"reports/cells/{name}.csv", "--key", "id",
                                                                 "--missing-target", "nan"), targets=("energy", "gap"))
      for name in ("None", "na", "dash", "hash", "upper", "d")],
    *[bad("reports/cells/mols.xyz", "extxyz", f"{name}.csv:25: ", "--on-error", "stop", "--join", f"reports/cells/{name}.csv",
          "--key", "id", "--missing-target", "nan") for name in ("comma", "unit")],
    *[bad("reports/cells/mols.xyz", "extxyz", f"{name}.csv:25: target 'energy' is missing", "--on-error", "stop",
          "--join", f"reports/cells/{name}.csv", "--key", "id") for name in ("None", "na", "dash", "hash", "upper")],
]

ROWS = [*QM9, *CRYSTALS, *MOLECULES, *PROGRAMS, *FOLDERS, *AWKWARD, *REPORTS]

# Rows above join these, or tests of their own read them.
TABLES = {"crystals/mp_3dsc/targets.csv", "qm9/sdf/gdb1k.sdf.csv", "qm9/sdf/qm9_mini.sdf.csv", "qm9/targets/reference_10k.csv.gz"}


def is_no_data(name):
    """Whether a file tells of data and is none."""
    base = name.rsplit("/", 1)[-1]
    return (base.startswith(("README", "LICENSE")) or name in ("SHA256SUMS", "stats.json") or name.startswith("reference/"))
