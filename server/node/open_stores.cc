#include "server/node/open_stores.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/node/memory_shares.h"
#include "server/node/store_check.h"
#include "server/runs/rocks_run_store.h"
#include "server/storage/rocks_graph_store.h"

namespace packtrain::node {
namespace {

using std::chrono::milliseconds;

// Whether `folder` is new, empty or holds our stores; lost+found is that of a file system made for them.
bool MayHoldStores(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / kGraphsFolder) || std::filesystem::exists(folder / kRunsFolder))
    return true;
  const std::filesystem::directory_iterator files(folder);
  return std::all_of(begin(files), end(files),
                     [](const auto& file) { return file.path().filename() == "lost+found"; });
}

}  // namespace

absl::StatusOr<Stores> OpenStores(const ServerOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.data, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot make the folder ", options.data.string(), ": ", error.message()));
  }
  if (!MayHoldStores(options.data)) {
    return absl::FailedPreconditionError(absl::StrCat("--data ", options.data.string(),
                                                      " holds files that are not ",
                                                      "packtraind's; name a folder that is new or empty"));
  }
  const bool scraped = !options.metrics_port.empty();
  const std::shared_ptr<limits::MemoryBudget> memory = BudgetOf(options);
  ABSL_ASSIGN_OR_RETURN(
      auto graphs,
      storage::RocksGraphStore::Open(options.data / kGraphsFolder,
                                     {.database = {.statistics = scraped},
                                      .block_cache_bytes = memory->max_bytes(limits::MemoryPart::kStoreCache),
                                      .memory = memory}));
  const auto steps = std::make_shared<metrics::StepDurations>();
  runs::RocksRunStoreOptions run_options;
  run_options.lost_after_ms = milliseconds(options.run_lost_after).count();
  run_options.database.statistics = scraped;
  if (scraped) run_options.on_steps = [steps](const auto& stored) { steps->Observe(stored); };
  ABSL_ASSIGN_OR_RETURN(auto run_store,
                        runs::RocksRunStore::Open((options.data / kRunsFolder).string(), run_options));
  const auto databases = [&graphs = *graphs, &runs = *run_store] {
    return std::vector<metrics::DatabaseReading>{{"graphs", graphs.statistics()}, {"runs", runs.statistics()}};
  };
  StoreCheck check = CheckOf(*graphs, *run_store);
  const auto watch_lost = [&graphs = *graphs](auto watcher) { graphs.WatchLost(std::move(watcher)); };
  return Stores{std::move(graphs), std::move(run_store), steps, databases,
                std::move(check),  watch_lost,           memory};
}

}  // namespace packtrain::node
