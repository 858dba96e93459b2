#include "tests/client/ingest/bond_reader.h"

#include <utility>

#include "absl/strings/str_split.h"
#include "client/ingest/elements.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/source_files.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::testing {
namespace {

enum FieldPosition : std::size_t { kZ, kEdgeType, kCharge, kField };

// "3" of "3-4:2" by `part` 0, "4" by 1 and "2" by 2.
std::uint32_t PartOf(const std::string& bond, std::size_t part) {
  const std::vector<std::string> parts = absl::StrSplit(bond, absl::ByAnyChar("-:"));
  return static_cast<std::uint32_t>(ingest::ParseCount(parts[part]).value());
}

void AddBond(const std::string& bond, ingest::SourceGraph* graph) {
  graph->senders.push_back(PartOf(bond, 0));
  graph->receivers.push_back(PartOf(bond, 1));
  graph->Values<std::int32_t>(kEdgeType).push_back(static_cast<std::int32_t>(PartOf(bond, 2)));
}

void AddKey(std::string_view word, ingest::SourceGraph* graph) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
  if (key == "charge") {
    graph->Values<float>(kCharge).push_back(ingest::ParseFloat(value).value());
  } else if (key == "field") {
    graph->Values<float>(kField).assign(2, ingest::ParseFloat(value).value());
  } else {
    graph->labels.push_back({key, value});
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ingest::GraphReader>> BondReader::Open(std::unique_ptr<ingest::ByteSource> file,
                                                                      const ingest::ReadOptions& options) {
  auto lines = std::make_unique<ingest::LineReader>(std::move(file), options.limits);
  return std::unique_ptr<ingest::GraphReader>(new BondReader(std::move(lines), options));
}

BondReader::BondReader(std::unique_ptr<ingest::LineReader> lines, const ingest::ReadOptions& options)
    : lines_(std::move(lines)) {
  layout_.fields = {{.name = "z", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8},
                    {.name = "edge_type", .scope = v1::FIELD_SCOPE_EDGE, .data_type = v1::DATA_TYPE_I32},
                    {.name = "charge",
                     .scope = v1::FIELD_SCOPE_GRAPH,
                     .data_type = v1::DATA_TYPE_F32,
                     .optional_noun = "charge"},
                    {.name = "field",
                     .scope = v1::FIELD_SCOPE_GRAPH,
                     .data_type = v1::DATA_TYPE_F32,
                     .dims = {2},
                     .optional_noun = "field",
                     .zero_where_absent = true}};
  layout_.labels_are_cells = options.flags.contains("--cells");
  if (const auto types = options.flags.find("--types"); types != options.flags.end()) {
    layout_.fields[kEdgeType].name = types->second;
  }
  if (ingest::StemOf(lines_->path()) == "other") layout_.fields[kEdgeType].name = "other_type";
  layout_.edges = "bonds";
  layout_.record_word = "molecule";
}

absl::StatusOr<bool> BondReader::Next(ingest::SourceGraph* graph) {
  graph->Clear();
  std::string_view line;
  ABSL_ASSIGN_OR_RETURN(const bool more, lines_->Next(&line));
  if (!more) return false;
  graph->record = ++records_;
  graph->line = lines_->line_number();
  const std::string_view name = ingest::NextWord(&line);
  if (name.starts_with('~')) {
    graph->title = name.substr(1);
  } else {
    graph->id = name;
  }
  const std::vector<std::string> elements = absl::StrSplit(std::string(ingest::NextWord(&line)), ',');
  const std::string bonds(ingest::NextWord(&line));
  if (bonds.empty()) {
    return ingest::RefusedAt({lines_->path(), layout_.record_word, graph->record, graph->line},
                             ingest::Refusal("short_line", "the line has two words"));
  }
  for (const std::string& element : elements) {
    graph->Values<std::uint8_t>(kZ).push_back(ingest::AtomicNumber(element));
  }
  graph->n_node = static_cast<std::uint32_t>(elements.size());
  if (bonds != "-") {
    for (const std::string& bond : std::vector<std::string>(absl::StrSplit(bonds, ','))) AddBond(bond, graph);
  }
  for (std::string_view word = ingest::NextWord(&line); !word.empty(); word = ingest::NextWord(&line)) {
    AddKey(word, graph);
  }
  return true;
}

}  // namespace packtrain::testing
