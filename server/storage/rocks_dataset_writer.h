// An import on its way into RocksDB (rocks_graph_store.h says how it becomes visible).
#ifndef PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_WRITER_H_
#define PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_WRITER_H_

#include <cstdint>
#include <filesystem>
#include <memory>

#include "proto/base/mutex.h"
#include "server/records/dataset_content.h"
#include "server/storage/graph_database.h"
#include "server/storage/graph_store.h"
#include "server/storage/sealed_list.h"

namespace packtrain::storage {

// `sealed` is told of the seal, `publishing` is held from a look at `meta` to the write that follows from it,
// `storage_id` is used by nobody else, and a file in `staging` is ended when it has `file_bytes`.
std::unique_ptr<DatasetWriter> NewRocksDatasetWriter(const std::shared_ptr<rocks::Database>& database,
                                                     std::shared_ptr<SealedList> sealed,
                                                     std::shared_ptr<base::Mutex> publishing,
                                                     std::uint64_t storage_id,
                                                     const std::filesystem::path& staging,
                                                     std::uint64_t file_bytes, records::DatasetContent content);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_WRITER_H_
