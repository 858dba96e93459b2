#include "client/ingest/formats/molfile_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"

namespace packtrain::ingest {
namespace {

constexpr std::string_view kV3000Row = "M  V30 ";
// Lines, and columns of a V2000 file.
constexpr std::size_t kCountsLine = 4, kNumberColumns = 3, kSymbolColumn = 31, kSymbolColumns = 3;

std::string_view Columns(std::string_view line, std::size_t begin, std::size_t size) {
  return begin < line.size() ? Trim(line.substr(begin, size)) : std::string_view();
}

std::optional<std::uint64_t> NumberAt(std::string_view line, std::size_t begin) {
  return ParseCount(Columns(line, begin, kNumberColumns));
}

// Takes the lines of a file one after the other.
class RowReader {
 public:
  void Add(std::string_view line) {
    ++line_;
    if (line.starts_with(kV3000Row)) return AddV3000(line.substr(kV3000Row.size()));
    if (line_ == kCountsLine) {
      atoms_ = NumberAt(line, 0).value_or(0);
      bonds_ = NumberAt(line, kNumberColumns).value_or(0);
    } else if (line_ > kCountsLine && rows_.atoms.size() < atoms_) {
      rows_.atoms.push_back({rows_.atoms.size() + 1, Columns(line, kSymbolColumn, kSymbolColumns), line_});
    } else if (line_ > kCountsLine && bonds_read_ < bonds_) {
      AddBond(++bonds_read_, NumberAt(line, 0), NumberAt(line, kNumberColumns));
    }
  }

  MolfileRows&& Take() && { return std::move(rows_); }

 private:
  void AddV3000(std::string_view row) {
    std::string_view rest = row;
    const std::string_view first = NextWord(&rest), second = NextWord(&rest);
    if (first == "BEGIN" || first == "END") {
      section_ = first == "BEGIN" ? second : std::string_view();
      return;
    }
    const std::optional<std::uint64_t> number = ParseCount(first);
    if (!number) return;
    if (section_ == "ATOM") rows_.atoms.push_back({*number, second, line_});
    if (section_ == "BOND") {
      const std::optional<std::uint64_t> from = ParseCount(NextWord(&rest)), to = ParseCount(NextWord(&rest));
      AddBond(*number, from, to);
    }
  }

  void AddBond(std::uint64_t number, std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) {
    if (from && to) rows_.bonds.push_back({number, *from, *to, line_});
  }

  MolfileRows rows_;
  std::size_t line_ = 0;                 // that was added last
  std::uint64_t atoms_ = 0, bonds_ = 0;  // that the counts of a V2000 file announce
  std::uint64_t bonds_read_ = 0;         // of them
  std::string_view section_;             // of a V3000 file
};

absl::Status BadBond(const MolfileRows::Bond& bond, std::string_view what) {
  return Refusal("bad_molfile",
                 absl::StrCat("bond ", bond.number, " joins ", absl::string_view(what.data(), what.size())));
}

}  // namespace

MolfileRows ReadMolfileRows(std::string_view text) {
  RowReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.Add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(reader).Take();
}

absl::Status CheckBonds(const MolfileRows& rows, std::size_t* line) {
  std::set<std::uint64_t> atoms;
  for (const MolfileRows::Atom& atom : rows.atoms) atoms.insert(atom.number);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> bonds;  // number of each
  for (const MolfileRows::Bond& bond : rows.bonds) {
    const std::size_t before = std::exchange(*line, bond.line);
    for (const std::uint64_t atom : {bond.from, bond.to}) {
      if (atoms.contains(atom)) continue;
      return BadBond(bond, absl::StrCat("atoms ", bond.from, " and ", bond.to, ", but of the ", atoms.size(),
                                        " atoms none is ", atom));
    }
    if (bond.from == bond.to) return BadBond(bond, absl::StrCat("atom ", bond.from, " to itself"));
    const auto [other, is_new] = bonds.emplace(std::minmax(bond.from, bond.to), bond.number);
    if (!is_new) {
      return BadBond(bond,
                     absl::StrCat("atoms ", bond.from, " and ", bond.to, ", as bond ", other->second, " does"));
    }
    *line = before;
  }
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
