// An import on its way into RocksDB (rocks_graph_store.h says how it becomes visible).
#ifndef PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_WRITER_H_
#define PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_WRITER_H_

#include <cstdint>
#include <filesystem>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "server/records/dataset_content.h"
#include "server/storage/graph_database.h"
#include "server/storage/graph_store.h"
#include "server/storage/kept_imports.h"
#include "server/storage/sealed_list.h"

namespace packtrain::storage {

// What writers of one store share.
struct WriterEnvironment {
  std::shared_ptr<rocks::Database> database;
  std::shared_ptr<SealedList> sealed;       // is told of the seal
  std::shared_ptr<base::Mutex> publishing;  // held from a look at `meta` to the write that follows from it
  std::filesystem::path staging;            // where files are written
  std::uint64_t file_bytes = 0;             // a file is ended when it has reached this
};

// `storage_id` is used by nobody else.
std::unique_ptr<DatasetWriter> NewRocksDatasetWriter(const WriterEnvironment& environment,
                                                     std::uint64_t storage_id, records::DatasetContent content);

// The same with the storage id of `folder`, whose pieces it goes on behind: it reads and checks them all.
// ABORTED: a piece is damaged; from then on it is not kept. Otherwise codes of `progress`
// (GraphStore::ReadProgress).
absl::StatusOr<std::unique_ptr<DatasetWriter>> NewKeptDatasetWriter(const WriterEnvironment& environment,
                                                                    std::unique_ptr<ImportFolder> folder,
                                                                    records::DatasetContent content,
                                                                    GraphStore::ReadProgress progress);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_WRITER_H_
