// What sealing decides from the content and the request alone, the same in every store: splits, version and
// description.
#ifndef PACKTRAIN_SERVER_STORAGE_SEAL_H_
#define PACKTRAIN_SERVER_STORAGE_SEAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/records/dataset_content.h"

namespace packtrain::storage {

// The split that every data set has, of all its graphs. It is not stored.
inline constexpr std::string_view kAllSplit = "all";

struct IndexSplit {
  std::string name;
  std::vector<std::uint32_t> graphs;  // ascending
};

struct SealedContent {
  std::vector<IndexSplit> splits;  // without "all"
  v1::Dataset description;
};

// INVALID_ARGUMENT: a data set's name is 1 to 128 characters of [A-Za-z0-9._-], the first one a
// letter or digit.
absl::Status CheckDatasetName(std::string_view name);

// The version of a data set: the first 16 hexadecimal digits of a SHA-256 over content hash and splits.
std::string Version(const std::string& content_hash, const std::vector<IndexSplit>& splits);

// What sealing holds beside the content and the request, at most: in SealContent, and for writing what that
// gives.
std::uint64_t SealBytes(const records::DatasetContent& content, const v1::SealDatasetRequest& request);

// Codes as DatasetService.SealDataset. Statistics are summed in ascending graph order, so they are the same
// everywhere.
absl::StatusOr<SealedContent> SealContent(records::DatasetContent& content,
                                          const v1::SealDatasetRequest& request);

// NAME or NAME@VERSION, taken apart.
struct DatasetReference {
  std::string name;
  std::optional<std::string> version;  // none: the newest
};
DatasetReference ParseReference(std::string_view text);

// The answers to a reference or a split that is not there.
absl::Status NoSuchDataset(const DatasetReference& reference);
absl::Status NoSuchSplit(const v1::Dataset& dataset, std::string_view split);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_SEAL_H_
