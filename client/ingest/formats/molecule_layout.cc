#include "client/ingest/formats/molecule_layout.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packtrain::ingest {
namespace {

constexpr std::uint32_t kOgbFeatures = 9;
constexpr char kHydrogens[] = "--hydrogens";
constexpr char kFeatures[] = "--features";

std::string_view ValueOf(const ReadOptions& options, std::string_view flag) {
  const auto given = options.flags.find(flag);
  return given == options.flags.end() ? std::string_view() : given->second;
}

absl::Status BadValue(std::string_view flag, std::string_view value, std::string_view taken) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(flag), ": '", std::string(value), "' is none of ", std::string(taken)));
}

}  // namespace

absl::StatusOr<MoleculeOptions> MoleculeOptionsOf(const ReadOptions& options, MoleculeOptions by_default) {
  MoleculeOptions molecules = by_default;
  molecules.max_atoms = options.limits.max_atoms;
  molecules.max_edges = options.limits.max_edges;
  const std::string_view hydrogens = ValueOf(options, kHydrogens);
  if (hydrogens == "keep") {
    molecules.hydrogens = Hydrogens::kKeep;
  } else if (hydrogens == "add") {
    molecules.hydrogens = Hydrogens::kAdd;
  } else if (hydrogens == "remove") {
    molecules.hydrogens = Hydrogens::kRemove;
  } else if (!hydrogens.empty()) {
    return BadValue(kHydrogens, hydrogens, "keep, add, remove");
  }
  const std::string_view features = ValueOf(options, kFeatures);
  if (!features.empty() && features != "ogb") return BadValue(kFeatures, features, "ogb");
  molecules.ogb_features = !features.empty();
  return molecules;
}

std::vector<FormatFlag> MoleculeFlags(std::vector<FormatFlag> more) {
  std::vector<FormatFlag> flags = std::move(more);
  flags.push_back({"--id", "COLUMN",
                   "Column of a table, or property of a record, with the ids of the graphs; a graph without "
                   "one is refused"});
  flags.push_back({kHydrogens, "keep|add|remove",
                   "Hydrogens that become nodes: those written as atoms, all, or none that the valence implies "
                   "(sdf: keep; smiles: remove)"});
  flags.push_back({kFeatures, "ogb", "Store node features x: the nine integers of OGB"});
  return flags;
}

GraphLayout MoleculeLayout(const MoleculeOptions& options) {
  GraphLayout layout;
  layout.fields = {
      {.name = "z", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8},
      {.name = "pos",
       .scope = v1::FIELD_SCOPE_NODE,
       .data_type = v1::DATA_TYPE_F32,
       .dims = {3},
       .unit = "angstrom",
       .optional_noun = options.always_has_pos ? "" : "set of coordinates"},
      {.name = "edge_type",
       .scope = v1::FIELD_SCOPE_EDGE,
       .data_type = v1::DATA_TYPE_U8,
       .names = std::vector<std::string>(kBondTypes.begin(), kBondTypes.end())},
      {.name = "unsanitized", .scope = v1::FIELD_SCOPE_GRAPH, .data_type = v1::DATA_TYPE_U8},
  };
  if (options.ogb_features) {
    layout.fields.push_back(
        {.name = "x", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_I32, .dims = {kOgbFeatures}});
  }
  layout.edges = "bonds";
  layout.record_word = "molecule";
  return layout;
}

}  // namespace packtrain::ingest
