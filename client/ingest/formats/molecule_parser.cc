#include "client/ingest/formats/molecule_parser.h"

#include <GraphMol/FileParsers/FileParsers.h>
#include <GraphMol/FileParsers/MolFileStereochem.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesParse.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/formats/molecule_fields.h"
#include "client/ingest/formats/molfile_rows.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

using Molecule = std::unique_ptr<RDKit::RWMol>;

constexpr char kUnsanitized[] = "unsanitized";

// Where a molecule comes from.
struct MoleculeText {
  // The molecule as it is written, unsanitised, the same each time; null: there is none. May throw.
  absl::FunctionRef<Molecule()> make;
  bool is_molfile = false;
};

bool IsPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Molecule MakeFromSmiles(const std::string& text) {
  RDKit::SmilesParserParams parameters;
  parameters.sanitize = false;
  parameters.removeHs = false;
  parameters.parseName = false;
  parameters.allowCXSMILES = true;
  parameters.strictCXSMILES = true;
  Molecule molecule(RDKit::SmilesToMol(text, parameters));
  if (molecule == nullptr || molecule->getNumConformers() == 0) return molecule;
  // What SmilesToMol does with coordinates where it sanitises.
  if (molecule->getConformer().is3D()) {
    molecule->updatePropertyCache(/*strict=*/false);
    RDKit::MolOps::assignChiralTypesFrom3D(*molecule);
  } else if (molecule->hasProp("_needsDetectAtomStereo")) {
    RDKit::MolOps::assignChiralTypesFromBondDirs(*molecule);
  }
  return molecule;
}

void AddHydrogens(RDKit::RWMol& molecule) {
  RDKit::MolOps::addHs(molecule, /*explicitOnly=*/false, /*addCoords=*/molecule.getNumConformers() > 0);
}

// What RDKit does with a molecule that it reads, but for finding possible centers of stereochemistry, which
// nobody here asks for and which takes a time cubic in the length of a chain. Throws where the chemistry is
// odd.
void Sanitize(Hydrogens hydrogens, bool is_molfile, RDKit::RWMol& molecule) {
  if (hydrogens == Hydrogens::kRemove) {
    RDKit::MolOps::removeHs(molecule, /*implicitOnly=*/false, /*updateExplicitCount=*/true, /*sanitize=*/true);
  } else {
    RDKit::MolOps::sanitizeMol(molecule);
  }
  if (is_molfile) {
    RDKit::ClearSingleBondDirFlags(molecule);
    RDKit::MolOps::detectBondStereochemistry(molecule);
  }
  RDKit::MolOps::assignStereochemistry(molecule, /*cleanIt=*/true, /*force=*/true);
  if (hydrogens == Hydrogens::kAdd) AddHydrogens(molecule);
}

// As much of Sanitize as goes without a check.
void Perceive(Hydrogens hydrogens, RDKit::RWMol& molecule) {
  constexpr unsigned kSteps = RDKit::MolOps::SANITIZE_SYMMRINGS | RDKit::MolOps::SANITIZE_SETCONJUGATION |
                              RDKit::MolOps::SANITIZE_SETHYBRIDIZATION |
                              RDKit::MolOps::SANITIZE_SETAROMATICITY | RDKit::MolOps::SANITIZE_FINDRADICALS;
  molecule.updatePropertyCache(/*strict=*/false);
  if (hydrogens == Hydrogens::kRemove) {
    RDKit::MolOps::removeHs(molecule, /*implicitOnly=*/false, /*updateExplicitCount=*/true, /*sanitize=*/false);
  } else if (hydrogens == Hydrogens::kAdd) {
    AddHydrogens(molecule);
  }
  molecule.updatePropertyCache(/*strict=*/false);
  unsigned failed = 0;
  try {
    RDKit::MolOps::sanitizeMol(molecule, failed, kSteps);
  } catch (const std::exception&) {
    // The steps before have left what they found.
  }
}

absl::Status CheckCounts(const RDKit::RWMol& molecule, const MoleculeOptions& options) {
  const std::uint64_t atoms = molecule.getNumAtoms(), edges = 2 * std::uint64_t{molecule.getNumBonds()};
  if (atoms == 0) return Refusal("no_nodes", "the molecule has no atoms");
  if (atoms > options.max_atoms) {
    return Refusal("too_many_atoms", absl::StrCat("the molecule has ", atoms, " atoms, the limit is ",
                                                  options.max_atoms, " (--max-atoms)"));
  }
  if (edges <= options.max_edges) return absl::OkStatus();
  return Refusal("too_many_edges", absl::StrCat("the bonds of the molecule are ", edges,
                                                " edges, the limit is ", options.max_edges, " (--max-edges)"));
}

absl::Status CheckMolecule(const RDKit::RWMol& molecule, const MoleculeOptions& options) {
  ABSL_RETURN_IF_ERROR(CheckCounts(molecule, options));
  for (const RDKit::Atom* atom : molecule.atoms()) {
    if (atom->getAtomicNum() == 0 || !atom->hasQuery()) continue;
    return Refusal("query_atom", absl::StrCat("atom ", atom->getIdx() + 1, " is a query, not one element"));
  }
  return absl::OkStatus();
}

absl::Status Read(const MoleculeText& text, const MoleculeOptions& options, SourceGraph* graph) {
  Molecule molecule = text.make();
  if (molecule == nullptr) {
    return Refusal(text.is_molfile ? "bad_molfile" : "bad_smiles", "RDKit reads no molecule from it");
  }
  ABSL_RETURN_IF_ERROR(CheckMolecule(*molecule, options));
  bool sanitized = true;
  try {
    Sanitize(options.hydrogens, text.is_molfile, *molecule);
  } catch (const std::exception&) {
    sanitized = false;
    molecule = text.make();
    Perceive(options.hydrogens, *molecule);
  }
  ABSL_RETURN_IF_ERROR(CheckMolecule(*molecule, options));
  if (!molecule->getRingInfo()->isInitialized()) RDKit::MolOps::fastFindRings(*molecule);
  FillFields(*molecule, options, graph);
  graph->Values<std::uint8_t>(kMoleculeUnsanitized).push_back(sanitized ? 0 : 1);
  if (!sanitized) graph->remark = kUnsanitized;
  return absl::OkStatus();
}

// Read, where what RDKit throws becomes a refusal for `reason`.
absl::Status ReadCatching(const MoleculeText& text, std::string_view reason, const MoleculeOptions& options,
                          SourceGraph* graph) {
  try {
    return Read(text, options, graph);
  } catch (const std::exception& error) {
    const std::string_view message = error.what();
    return Refusal(reason, absl::StrCat("RDKit: ", std::string(message.substr(0, message.find('\n')))));
  }
}

absl::Status CheckSmiles(std::string_view smiles) {
  if (smiles.empty()) return Refusal("no_nodes", "there is no SMILES");
  if (smiles.size() > kMaxSmilesBytes) {
    return Refusal("smiles_too_long",
                   absl::StrCat("the SMILES has ", smiles.size(), " characters, ", kMaxSmilesBytes,
                                " are taken; an sdf file may hold larger molecules"));
  }
  if (!IsPrintableAscii(smiles)) return Refusal("not_ascii", "the SMILES has characters that no SMILES has");
  return absl::OkStatus();
}

// The coordinates of a CXSMILES block, "1,2,3;4,5,6", which stand in brackets; labels between dollar signs may
// hold brackets too. nullopt: it has none.
std::optional<std::string_view> CoordinatesOf(std::string_view extension) {
  bool in_label = false;
  for (std::size_t at = 0; at < extension.size(); ++at) {
    if (extension[at] == '$') in_label = !in_label;
    if (extension[at] != '(' || in_label) continue;
    const std::string_view rest = extension.substr(at + 1);
    return rest.substr(0, rest.find(')'));
  }
  return std::nullopt;
}

// RDKit takes atoms without coordinates to lie at the origin.
absl::Status CheckCoordinates(std::string_view extension, std::size_t atoms) {
  const std::optional<std::string_view> coordinates = CoordinatesOf(extension);
  if (!coordinates) return absl::OkStatus();
  const std::size_t places =
      1 + static_cast<std::size_t>(std::count(coordinates->begin(), coordinates->end(), ';'));
  if (places == atoms) return absl::OkStatus();
  return Refusal("bad_cxsmiles", absl::StrCat("coordinates of ", places, " atoms for ", atoms, " atoms"));
}

// Cuts " on line 12", or " on line12", out of what RDKit says.
std::string CutLine(std::string message, std::size_t* line) {
  for (const std::string_view mark : {" on line", " at line", " line"}) {
    const std::size_t at = message.rfind(mark);
    if (at == message.npos) continue;
    const std::size_t begin = std::min(message.find_first_not_of(' ', at + mark.size()), message.size());
    const std::size_t end = std::min(message.find_first_not_of("0123456789", begin), message.size());
    const std::optional<std::uint64_t> number =
        ParseCount(std::string_view(message).substr(begin, end - begin));
    if (!number) continue;
    *line = static_cast<std::size_t>(*number);
    return message.erase(at, end - at);
  }
  return message;
}

// What RDKit refuses without a line: a bond that no two atoms can have, or the element of an atom. `line`
// becomes its line.
absl::Status AtItsRow(const absl::Status& refusal, const MolfileRows& rows, std::size_t* line) {
  ABSL_RETURN_IF_ERROR(CheckBonds(rows, line));
  for (const MolfileRows::Atom& atom : rows.atoms) {
    const std::string element = absl::StrCat("Element '", std::string(atom.symbol), "' not found");
    if (refusal.message().find(element) == absl::string_view::npos) continue;
    *line = atom.line;
    break;
  }
  return refusal;
}

// RDKit makes room for as many atoms as a V3000 file announces, before it reads one.
absl::Status CheckCountsLine(std::string_view text) {
  constexpr std::string_view kCounts = "M  V30 COUNTS";
  const std::size_t at = text.find(kCounts);
  if (at == std::string_view::npos) return absl::OkStatus();
  std::string_view rest = text.substr(at + kCounts.size());
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  for (const char* what : {"atoms", "bonds"}) {
    const std::optional<std::uint64_t> count = ParseCount(NextWord(&rest));
    if (count && *count <= lines) continue;
    return Refusal("bad_molfile", absl::StrCat("the counts line has no number of ", what, " that ", lines,
                                               " lines could hold"));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsSmiles(std::string_view text) {
  if (!CheckSmiles(text).ok()) return false;
  try {
    const Molecule molecule = MakeFromSmiles(std::string(text));
    return molecule != nullptr && molecule->getNumAtoms() > 0;
  } catch (const std::exception&) {
    return false;
  }
}

absl::Status ReadSmiles(std::string_view smiles, std::string_view extension, const MoleculeOptions& options,
                        SourceGraph* graph) {
  ABSL_RETURN_IF_ERROR(CheckSmiles(smiles));
  std::string text(smiles);
  if (!extension.empty()) text.append(" ").append(extension);
  absl::Status coordinates;
  const auto make = [&] {
    Molecule molecule = MakeFromSmiles(text);
    if (molecule != nullptr) coordinates = CheckCoordinates(extension, molecule->getNumAtoms());
    return molecule;
  };
  ABSL_RETURN_IF_ERROR(ReadCatching({make}, extension.empty() ? "bad_smiles" : "bad_cxsmiles", options, graph));
  return coordinates;
}

absl::Status ReadMolfile(const std::string& text, const MoleculeOptions& options, SourceGraph* graph,
                         std::size_t* line) {
  ABSL_RETURN_IF_ERROR(CheckCountsLine(text));
  const auto make = [&] {
    return Molecule(RDKit::MolBlockToMol(text, /*sanitize=*/false, /*removeHs=*/false));
  };
  absl::Status status = ReadCatching({make, /*is_molfile=*/true}, "bad_molfile", options, graph);
  if (ReasonOf(status) != "bad_molfile") return status;
  const absl::Status told = WithMessage(status, CutLine(std::string(status.message()), line));
  return *line > 0 ? told : AtItsRow(told, ReadMolfileRows(text), line);
}

}  // namespace packtrain::ingest
