#include "tests/client/ingest/formats/read_molecules.h"

#include <gmock/gmock.h>

#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/ingest/formats/format_table.h"
#include "client/ingest/formats/molecule_layout.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/refusal.h"
#include "tests/client/ingest/refused.h"

namespace packtrain::testing {
namespace {

using ingest::SourceGraph;

void CopyFields(SourceGraph& graph, MoleculeRecord* record) {
  record->remark = graph.remark;
  record->z = graph.Values<std::uint8_t>(ingest::kMoleculeZ);
  record->pos = graph.Values<float>(ingest::kMoleculePos);
  record->unsanitized = graph.Values<std::uint8_t>(ingest::kMoleculeUnsanitized);
  if (graph.fields.size() > ingest::kMoleculeX) record->x = graph.Values<std::int32_t>(ingest::kMoleculeX);
  const std::vector<std::uint8_t>& types = graph.Values<std::uint8_t>(ingest::kMoleculeEdgeType);
  for (std::size_t k = 0; k < graph.senders.size(); ++k) {
    record->edges.push_back(absl::StrCat(graph.senders[k], "-", graph.receivers[k], ":", int{types[k]}));
  }
  for (const ingest::Label& label : graph.labels) record->labels.emplace_back(label.name, label.text);
}

// Calls `take` for each record with its status.
void ForEach(std::string_view format, const std::string& path, const ingest::ReadOptions& options,
             const std::function<void(const absl::Status&, SourceGraph&)>& take) {
  auto file = ingest::ByteSource::Open(path, options.limits.max_unpacked_bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto reader = ingest::FindFormat(format)->open_graphs(*std::move(file), options);
  ASSERT_TRUE(reader.ok()) << reader.status();
  SourceGraph graph((*reader)->layout());
  while (true) {
    const absl::StatusOr<bool> more = NextNamed(**reader, &graph);
    if (more.ok() && !*more) return;
    ASSERT_TRUE(more.ok() || ingest::IsRefusal(more.status())) << more.status();
    take(more.status(), graph);
  }
}

}  // namespace

std::vector<MoleculeRecord> ReadMolecules(std::string_view format, const std::string& path,
                                          const ingest::FormatFlagValues& flags,
                                          const ingest::ReadLimits& limits) {
  std::vector<MoleculeRecord> records;
  ForEach(format, path, {.limits = limits, .flags = flags},
          [&](const absl::Status& status, SourceGraph& graph) {
            MoleculeRecord& record = records.emplace_back();
            record.line = graph.line;
            record.id = graph.id;
            record.title = graph.title;
            record.message = std::string(status.message());
            if (!status.ok()) record.refused = ingest::ReasonOf(status);
            if (status.ok()) CopyFields(graph, &record);
          });
  return records;
}

MoleculeCounts CountMolecules(std::string_view format, const std::string& path,
                              const ingest::FormatFlagValues& flags) {
  MoleculeCounts counts;
  ingest::ReadOptions options;
  options.flags = flags;
  ForEach(format, path, options, [&](const absl::Status& status, SourceGraph& graph) {
    if (!status.ok()) {
      ++counts.refused;
      return;
    }
    ++counts.molecules;
    counts.nodes += graph.n_node;
    counts.edges += graph.senders.size();
    counts.unsanitized += graph.Values<std::uint8_t>(ingest::kMoleculeUnsanitized).front();
  });
  return counts;
}

}  // namespace packtrain::testing
