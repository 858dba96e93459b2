#include "client/ingest/formats/format_table.h"

#include <algorithm>
#include <array>

#include "client/ingest/formats/cif_reader.h"
#include "client/ingest/formats/extxyz_reader.h"
#include "client/ingest/formats/jsonl_reader.h"
#include "client/ingest/formats/molecule_layout.h"
#include "client/ingest/formats/native_source.h"
#include "client/ingest/formats/ogb_csv_reader.h"
#include "client/ingest/formats/poscar_reader.h"
#include "client/ingest/formats/qm9_xyz_reader.h"
#include "client/ingest/formats/sdf_reader.h"
#include "client/ingest/formats/smiles_reader.h"
#include "client/ingest/formats/tudataset_reader.h"

namespace packtrain::ingest {

std::span<const Format> Formats() {
  static const std::array kFormats = {
      Format{.name = "extxyz",
             .help = "extended xyz and plain multi-frame xyz, gzip too",
             .extensions = {".xyz", ".extxyz"},
             .flags = {kSpeciesAreNumbers},
             .open_graphs = OpenExtxyz},
      Format{.name = "jsonl",
             .help = "a graph a line as JSON: programs (both variable misuse forms), typed bond graphs, or the "
                     "general form, which `packtrain dataset export --format jsonl` writes",
             .extensions = {".jsonl", ".json"},
             .may_bring_edges = true,
             .may_hold_words = true,
             .open_graphs = OpenJsonl},
      Format{.name = "qm9-xyz",
             .help = "the files of QM9 as published, with their 15 properties",
             .extensions = {".xyz"},
             .open_graphs = OpenQm9Xyz},
      Format{
          .name = "cif",
          .help = "crystals of CIF files, with all atoms of the cell by its symmetry; a structure a data block",
          .extensions = {".cif"},
          .open_graphs = OpenCif},
      Format{.name = "poscar",
             .help = "crystals of VASP's POSCAR and CONTCAR files, one or several in a file",
             .extensions = {".vasp", ".poscar", "POSCAR", "CONTCAR"},
             .open_graphs = OpenPoscar},
      Format{.name = "sdf",
             .help = "molfiles V2000 and V3000, one or many a file, with bonds; their data items are labels",
             .extensions = {".sdf", ".sd", ".mol"},
             .flags = MoleculeFlags(),
             .may_bring_edges = true,
             .open_graphs = OpenSdf},
      Format{
          .name = "smiles",
          .help =
              "csv, tab-separated or smi files with a column of SMILES, CXSMILES too; other columns are labels",
          .extensions = {".smi", ".smiles", ".csv", ".tsv"},
          .flags = SmilesFlags(),
          .may_bring_edges = true,
          .open_graphs = OpenSmiles},
      Format{.name = "native",
             .help = "a file of `packtrain dataset export`, with its own splits and, without --name, its name; "
                     "or parts "
                     "that `packtrain import ... -o PART` made, to be joined in this order",
             .open_blocks = NativeSource::Open},
      Format{.name = "ogb-csv",
             .help =
                 "a folder or archive of the Open Graph Benchmark's raw files: edge.csv, num-node-list.csv, "
                 "num-edge-list.csv, and node-feat.csv, edge-feat.csv, graph-label.csv where they exist",
             .extensions = {".csv"},
             .flags = {{kInverseEdgesFlag, "keep|add", "add: follow each edge by its inverse (default: keep)"}},
             .may_bring_edges = true,
             .open_folder = OpenOgbCsv},
      Format{
          .name = "tudataset",
          .help =
              "a folder or archive of the TUDataset collection: DS_A.txt, DS_graph_indicator.txt, and labels "
              "and attributes of graphs, nodes and edges where they exist",
          .extensions = {".txt"},
          .may_bring_edges = true,
          .open_folder = OpenTudataset},
  };
  return kFormats;
}

const Format* FindFormat(std::string_view name) {
  const std::span<const Format> formats = Formats();
  const auto row =
      std::find_if(formats.begin(), formats.end(), [&](const Format& format) { return format.name == name; });
  return row == formats.end() ? nullptr : &*row;
}

}  // namespace packtrain::ingest
