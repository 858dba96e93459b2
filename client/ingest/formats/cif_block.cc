#include "client/ingest/formats/cif_block.h"

#include <algorithm>
#include <exception>
#include <gemmi/cif.hpp>
#include <gemmi/symmetry.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"

namespace packtrain::ingest {
namespace {

namespace cif = gemmi::cif;

constexpr const char* kOperationTags[] = {"_space_group_symop_operation_xyz", "_symmetry_equiv_pos_as_xyz",
                                          "_space_group_symop.operation_xyz"};

// gemmi gives "" for "?" and ".".
std::string WordAt(cif::Table::Row& row, std::size_t column) {
  return row.has(column) ? cif::as_string(row[column]) : "";
}

void ReadSites(cif::Block& block, CifBlock* out) {
  cif::Table table =
      block.find("_atom_site_", {"fract_x", "fract_y", "fract_z", "?label", "?type_symbol", "?occupancy"});
  for (cif::Table::Row row : table) {
    CifSite& site = out->sites.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) site.at[k] = WordAt(row, k);
    site.label = WordAt(row, 3);
    site.symbol = WordAt(row, 4);
    site.occupancy = WordAt(row, 5);
  }
  out->has_cartesian_sites =
      out->sites.empty() && (block.has_tag("_atom_site_Cartn_x") || block.has_tag("_atom_site.Cartn_x"));
}

void ReadOperations(cif::Block& block, CifBlock* out) {
  for (const char* const tag : kOperationTags) {
    std::size_t row = 0;
    for (const std::string& operation : block.find_values(tag)) {
      if (!cif::is_null(operation)) out->operations.push_back({cif::as_string(operation), tag, row});
      ++row;
    }
    if (!out->operations.empty()) return;
  }
}

CifBlock PlainBlock(cif::Block& block) {
  CifBlock out;
  out.name = block.name;
  for (const cif::Item& item : block.items) {
    if (item.type == cif::ItemType::Pair) out.pairs.push_back({item.pair[0], item.pair[1]});
  }
  ReadSites(block, &out);
  ReadOperations(block, &out);
  return out;
}

std::vector<SymmetryOperation> OperationsOf(const gemmi::SpaceGroup* group) {
  std::vector<SymmetryOperation> operations;
  if (group == nullptr) return operations;
  for (const gemmi::Op& from : group->operations()) {
    SymmetryOperation& to = operations.emplace_back();
    for (std::size_t row = 0; row < 3; ++row) {
      to.translation[row] = static_cast<double>(from.tran[row]) / gemmi::Op::DEN;
      for (std::size_t k = 0; k < 3; ++k) {
        to.rotation[row][k] = static_cast<double>(from.rot[row][k]) / gemmi::Op::DEN;
      }
    }
  }
  return operations;
}

}  // namespace

std::string CifBlock::Find(std::string_view tag) const {
  const auto pair = std::find_if(pairs.begin(), pairs.end(), [tag](const Pair& candidate) {
    return absl::EqualsIgnoreCase(candidate.tag, absl::string_view(tag.data(), tag.size()));
  });
  return pair == pairs.end() ? "" : cif::as_string(pair->value);
}

absl::StatusOr<CifBlock> ReadCifBlock(const std::string& text) {
  try {
    cif::Document document = cif::read_memory(text.data(), text.size(), "line");
    if (document.blocks.size() == 1) return PlainBlock(document.blocks.front());
    return Refusal("bad_cif", absl::StrCat("a line begins ", document.blocks.size(), " blocks"));
  } catch (const std::exception& error) {
    return Refusal("bad_cif", error.what());
  }
}

std::vector<SymmetryOperation> OperationsOfName(const std::string& name, double alpha, double gamma) {
  return OperationsOf(gemmi::find_spacegroup_by_name(name, alpha, gamma));
}

std::vector<SymmetryOperation> OperationsOfNumber(int number) {
  return OperationsOf(gemmi::find_spacegroup_by_number(number));
}

}  // namespace packtrain::ingest
