#include "tests/client/ingest/formats/folder_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "client/ingest/input_folder.h"
#include "client/ingest/refusal.h"

namespace packtrain::testing {

std::vector<std::string> FolderGraphs::Outcomes() const {
  std::vector<std::string> outcomes;
  for (const absl::Status& status : statuses) {
    outcomes.push_back(status.ok() ? "stored" : ingest::ReasonOf(status));
  }
  return outcomes;
}

std::vector<std::size_t> FolderGraphs::NodeCounts() const {
  std::vector<std::size_t> counts;
  for (const ingest::SourceGraph& graph : graphs) counts.push_back(graph.n_node);
  return counts;
}

std::vector<std::size_t> FolderGraphs::EdgeCounts() const {
  std::vector<std::size_t> counts;
  for (const ingest::SourceGraph& graph : graphs) counts.push_back(graph.senders.size());
  return counts;
}

std::string FolderGraphs::LabelNamed(std::size_t graph, std::string_view name) const {
  for (const ingest::Label& label : graphs[graph].labels) {
    if (label.name == name) return std::string(label.text);
  }
  return "absent";
}

std::size_t FolderGraphs::FieldNamed(std::string_view name) const {
  const auto field = std::find_if(layout.fields.begin(), layout.fields.end(),
                                  [&](const ingest::GraphField& candidate) { return candidate.name == name; });
  EXPECT_NE(field, layout.fields.end()) << name;
  return static_cast<std::size_t>(field - layout.fields.begin());
}

FolderGraphs ReadFolder(OpenFolder open, const std::string& path, std::string_view extension,
                        const ingest::ReadOptions& options) {
  const std::string_view extensions[] = {extension};
  const std::unique_ptr<ingest::InputFolder> folder =
      ingest::InputFolder::Open(path, extensions, options.limits).value();
  FolderGraphs read;
  const absl::StatusOr<std::unique_ptr<ingest::GraphReader>> reader = open(*folder, options);
  read.opened = reader.status();
  if (!reader.ok()) return read;
  read.layout = (*reader)->layout();
  while (true) {
    ingest::SourceGraph graph(read.layout);
    const absl::StatusOr<bool> more = (*reader)->Next(&graph);
    if (more.ok() && !*more) return read;
    read.statuses.push_back(more.status());
    read.graphs.push_back(std::move(graph));
  }
}

}  // namespace packtrain::testing
