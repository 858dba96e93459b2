#include "server/serving/store_check.h"

#include <string>

#include "server/runs/fsck.h"
#include "server/storage/fsck.h"

namespace packtrain::serving {
namespace {

using Sink = absl::FunctionRef<absl::Status(const v1::FsckResponse& event)>;

absl::Status ReportFile(const std::string& path, const absl::Status& status, v1::FsckSummary& summary,
                        Sink sink) {
  summary.set_files(summary.files() + 1);
  v1::FsckResponse event;
  if (status.ok()) {
    event.mutable_progress()->set_subject("files");
    event.mutable_progress()->set_done(summary.files());
    return sink(event);
  }
  summary.set_findings(summary.findings() + 1);
  event.mutable_finding()->set_kind(v1::FSCK_KIND_FILE);
  event.mutable_finding()->set_file(path);
  event.mutable_finding()->set_message(std::string(status.message()));
  return sink(event);
}

absl::Status CheckAll(storage::RocksGraphStore& graphs, runs::RocksRunStore& run_store,
                      v1::FsckSummary& summary, Sink sink) {
  const auto file = [&](const std::string& path, const absl::Status& status) {
    return ReportFile(path, status, summary, sink);
  };
  if (absl::Status status = graphs.VerifyFiles(file); !status.ok()) return status;
  if (absl::Status status = run_store.VerifyFiles(file); !status.ok()) return status;
  if (absl::Status status = storage::Fsck(graphs, summary, sink); !status.ok()) return status;
  return runs::Fsck(run_store, summary, sink);
}

}  // namespace

StoreCheck CheckOf(storage::RocksGraphStore& graphs, runs::RocksRunStore& runs) {
  return
      [&graphs, &runs](v1::FsckSummary& summary, Sink sink) { return CheckAll(graphs, runs, summary, sink); };
}

}  // namespace packtrain::serving
