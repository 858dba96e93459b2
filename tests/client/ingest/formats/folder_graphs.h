// What a format whose data set is a folder gives of one.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_FOLDER_GRAPHS_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_FOLDER_GRAPHS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::testing {

using OpenFolder = absl::StatusOr<std::unique_ptr<ingest::GraphReader>> (*)(ingest::InputFolder& folder,
                                                                            const ingest::ReadOptions& options);

struct FolderGraphs {
  absl::Status opened;  // without it the rest is empty
  ingest::GraphLayout layout;
  std::vector<ingest::SourceGraph> graphs;  // by record, refused ones too
  std::vector<absl::Status> statuses;       // of each

  // Reasons of refusals, and "stored".
  std::vector<std::string> Outcomes() const;
  std::vector<std::size_t> NodeCounts() const;
  std::vector<std::size_t> EdgeCounts() const;
  // "absent" where the graph has no such label.
  std::string LabelNamed(std::size_t graph, std::string_view name) const;

  // Of a field, which must exist.
  template <typename T>
  std::vector<T>& Values(std::size_t graph, std::string_view name) {
    return graphs[graph].Values<T>(FieldNamed(name));
  }
  std::size_t FieldNamed(std::string_view name) const;
};

// Reads the files of `path` that end in `extension`.
FolderGraphs ReadFolder(OpenFolder open, const std::string& path, std::string_view extension,
                        const ingest::ReadOptions& options = {});

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_FOLDER_GRAPHS_H_
