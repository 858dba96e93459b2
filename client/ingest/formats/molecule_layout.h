// How the formats that have bonds store a molecule.
//
// | field | | |
// |---|---|---|
// | `z` | node, u8 | atomic number; 0 for a dummy atom, `*` |
// | `pos` | node, f32 [3], angstrom | where the record has coordinates |
// | `edge_type` | edge, u8 | position in kBondTypes |
// | `unsanitized` | graph, u8 | 1: chemically odd, read without RDKit's checks and corrections; otherwise 0 |
// | `x` | node, i32 [9] | with --features ogb: atom_to_feature_vector of the ogb package, version 1.3.6 |
//
// Edges are the bonds, each in both directions.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_LAYOUT_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// Positions in the layout.
enum MoleculeField : std::size_t {
  kMoleculeZ,
  kMoleculePos,
  kMoleculeEdgeType,
  kMoleculeUnsanitized,
  kMoleculeX
};

// The values of `edge_type`; "other" are those that OGB calls misc, such as dative bonds.
enum BondType : std::uint8_t { kSingleBond, kDoubleBond, kTripleBond, kAromaticBond, kOtherBond };
inline constexpr std::array<std::string_view, 5> kBondTypes = {"single", "double", "triple", "aromatic",
                                                               "other"};

// Which hydrogens become nodes.
enum class Hydrogens {
  kKeep,    // those that the record has as atoms
  kAdd,     // all, with coordinates where the record has coordinates
  kRemove,  // none that the valence of a neighbour implies, as RDKit's removeHs decides
};

struct MoleculeOptions {
  Hydrogens hydrogens = Hydrogens::kKeep;
  bool ogb_features = false;
  bool always_has_pos = false;  // no record lacks coordinates
  std::uint64_t max_atoms = 0;
  std::uint64_t max_edges = 0;
};

// `by_default` stands for a flag that was not given. INVALID_ARGUMENT: a flag has no such value.
absl::StatusOr<MoleculeOptions> MoleculeOptionsOf(const ReadOptions& options, MoleculeOptions by_default);

// The flags that MoleculeOptionsOf reads, and --id; `more` go first.
std::vector<FormatFlag> MoleculeFlags(std::vector<FormatFlag> more = {});

GraphLayout MoleculeLayout(const MoleculeOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_LAYOUT_H_
