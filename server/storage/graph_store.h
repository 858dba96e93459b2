// Where data sets live: the contract between what stores graphs and what imports, batches and lists them.
// Implementations: RocksGraphStore, and FakeGraphStore in tests; one conformance suite holds both to it.
//
//   ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<DatasetWriter> writer, store.NewDataset(schema));
//   ABSL_RETURN_IF_ERROR(writer->Append(record));  // once a graph
//   ABSL_RETURN_IF_ERROR(writer->Seal(request).status());  // readers see all of it from here on
//   ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<const Dataset> dataset, store.Open("qm9"));
//   ABSL_RETURN_IF_ERROR(dataset->ReadRecords(graphs, sink));
#ifndef PACKTRAIN_SERVER_STORAGE_GRAPH_STORE_H_
#define PACKTRAIN_SERVER_STORAGE_GRAPH_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/records/graph_record.h"

namespace packtrain::storage {

// One sealed data set, held open. Immutable; any number of threads may use it. Keeps its version readable
// as long as it lives.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual const v1::Dataset& description() const = 0;

  // Sizes by graph index, in memory.
  virtual std::span<const std::uint32_t> n_node() const = 0;
  virtual std::span<const std::uint32_t> n_edge() const = 0;
  // The bandwidth of each graph as it is stored, in memory too, where the nodes are renumbered; else empty.
  virtual std::span<const std::uint32_t> bandwidth() const { return {}; }

  // The bandwidths of these graphs, ascending, by the numbers that their nodes have in the source. Read from
  // the store. FAILED_PRECONDITION: the nodes are not renumbered. OUT_OF_RANGE: no such graph. DATA_LOSS: the
  // sizes are corrupt.
  virtual absl::StatusOr<std::vector<std::uint32_t>> ReadBandwidthsAsRead(
      std::span<const std::uint32_t> graphs) const;

  // Graph indices of a split, ascending. NOT_FOUND: no such split; the message lists those there are.
  virtual absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const = 0;

  // Calls `sink(k, record)` once for each graphs[k], in any order, on the calling thread, with its record,
  // valid during that call: parsed, and of n_node()[graphs[k]] nodes and n_edge()[graphs[k]] edges.
  // OUT_OF_RANGE: no such graph. DATA_LOSS: a record is corrupt, or contradicts the sizes; the message names
  // data set, graph index, and source id where it can be read: never of a record whose checksum fails, of which
  // nothing is believed. A failing sink ends the call with its status.
  using RecordSink = absl::FunctionRef<absl::Status(std::size_t k, const records::RecordView& record)>;
  virtual absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const = 0;

  // Whether ReadRecords now keeps the order of its graphs, and goes on doing so.
  virtual bool reads_in_order() const { return false; }

  // The same for every graph of the data set, ascending, and k is the graph's index: one pass over what is
  // stored. It does not push out what other reads keep in caches.
  virtual absl::Status ScanRecords(RecordSink sink) const = 0;
};

// One import under way. Used by one thread. Destroying it unsealed drops what was staged, or keeps it for a
// while as far as it is safe (GraphStore::NewKeptDataset).
class DatasetWriter {
 public:
  virtual ~DatasetWriter() = default;

  // Stages one graph; its record must have been made for the writer's schema.
  virtual absl::Status Append(std::span<const std::byte> record) = 0;

  virtual std::uint64_t graphs() const = 0;
  // Whether a graph of this source id was staged.
  virtual bool HasId(std::string_view id) const = 0;

  // Bytes of memory held for what was staged.
  virtual std::uint64_t memory_bytes() const = 0;
  // For writers of NewKeptDataset; others do nothing here, and drop what was staged in any case.

  // Makes all that was staged safe on the disk, together with `progress`, which says what has become of the
  // import's graphs so far: the beginning of a writer that goes on. Without `all`, only where it is much. A
  // failure is that of Append, and RESOURCE_EXHAUSTED: the disk is full.
  virtual absl::Status Checkpoint(const v1::ImportGraphsResponse& /*progress*/, bool /*all*/) {
    return absl::OkStatus();
  }
  // Destroying it unsealed drops everything from now on.
  virtual void DropAtEnd() {}

  // What Seal holds beside that and the request, at most.
  virtual std::uint64_t seal_bytes(const v1::SealDatasetRequest& request) const = 0;

  struct SealResult {
    v1::Dataset dataset;
    bool unchanged = false;  // the same content was there under this name
  };
  // Publishes what was staged, atomically and synced. Codes as DatasetService.SealDataset. A failure keeps what
  // was staged, and the seal may be tried again, with another request or when the disk is well; after a success
  // only destroying is left.
  virtual absl::StatusOr<SealResult> Seal(const v1::SealDatasetRequest& request) = 0;
};

// All data sets of one server. Any number of threads may use it.
class GraphStore {
 public:
  virtual ~GraphStore() = default;

  virtual absl::StatusOr<std::unique_ptr<DatasetWriter>> NewDataset(const v1::Schema& schema) = 0;

  // A writer, and what became of the graphs of its import before it.
  struct KeptDataset {
    std::unique_ptr<DatasetWriter> writer;
    v1::ImportGraphsResponse progress;
  };
  // Called again and again with the memory that a writer holds so far; an error ends the work with that error.
  using ReadProgress = absl::FunctionRef<absl::Status(std::uint64_t memory_bytes)>;
  // NewDataset for an import of `header`, which has an identity, so that the store may keep what is staged
  // where the import breaks off. With continue_at it goes on with what is kept, of which everything is read and
  // checked. ABORTED: that is not what is kept, or is damaged: FindKept says what there is. A failure keeps it.
  virtual absl::StatusOr<KeptDataset> NewKeptDataset(const v1::Schema& schema, const v1::ImportHeader& header,
                                                     ReadProgress progress);
  // Where an import of `header` goes on. Codes as DatasetService.ContinueImport.
  virtual absl::StatusOr<v1::ContinueImportResponse> FindKept(const v1::ImportHeader&) const {
    return v1::ContinueImportResponse();
  }

  // `reference` is NAME or NAME@VERSION. NOT_FOUND: no such name or version. DATA_LOSS: what it means is
  // damaged or lost; the message names it.
  virtual absl::StatusOr<std::shared_ptr<const Dataset>> Open(std::string_view reference) = 0;

  // Current versions, by name, from behind the name `after` on, one by one until `sink` returns false; none of
  // a name whose current version is lost.
  using DatasetSink = absl::FunctionRef<bool(v1::Dataset dataset)>;
  virtual absl::Status ListAfter(std::string_view after, DatasetSink sink) const = 0;
  // The same of all versions of these names, in the order of NAME@VERSION, which `after` is.
  virtual absl::Status ListVersionsAfter(std::string_view after, DatasetSink sink) const = 0;
  // All that ListAfter gives.
  absl::StatusOr<std::vector<v1::Dataset>> List() const {
    std::vector<v1::Dataset> datasets;
    absl::Status listed = ListAfter("", [&datasets](v1::Dataset dataset) {
      datasets.push_back(std::move(dataset));
      return true;
    });
    if (!listed.ok()) return listed;
    return datasets;
  }

  // What `reference` names: all versions of NAME, by version, or NAME@VERSION alone. NOT_FOUND: none.
  virtual absl::StatusOr<std::vector<v1::Dataset>> Versions(std::string_view reference) const = 0;

  // Makes a version the one that its bare NAME means; synced. NOT_FOUND: no such version.
  virtual absl::Status MakeCurrent(std::string_view reference) = 0;

  // Takes what `reference` names off every list, atomically and synced, lost versions included. A bare NAME
  // means the version imported last of those left from then on. What was deleted can still be opened as
  // NAME@VERSION until it is reclaimed, and is as it was before once the same content is sealed under its name
  // again. Returns what Versions and Lost gave.
  virtual absl::StatusOr<std::vector<v1::Dataset>> Delete(std::string_view reference) = 0;

  // NAME@VERSION of what is deleted and not reclaimed, ascending.
  virtual absl::StatusOr<std::vector<std::string>> Deleted() const = 0;

  // Gives back the space of a deleted version, as far as no other data set has the same content. Killed at any
  // moment, it is done or to be done again. OK where there is nothing to reclaim. FAILED_PRECONDITION: somebody
  // holds the version open.
  virtual absl::Status Reclaim(std::string_view reference) = 0;

  // Versions of what `reference` names, or of all where it is empty, that were sealed here and that the store
  // has lost: name, version, graphs and bytes of each. Sealed again, or deleted, they are lost no more.
  virtual std::vector<v1::Dataset> Lost(std::string_view) const { return {}; }

  // RESOURCE_EXHAUSTED: the disk has no room for so many bytes of new data sets.
  virtual absl::Status CheckSpace(std::uint64_t) const { return absl::OkStatus(); }

  // Bytes of memory held for caches and open data sets.
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_GRAPH_STORE_H_
