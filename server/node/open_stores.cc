#include "server/node/open_stores.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
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

namespace fs = std::filesystem;

// A folder of a store, and what lies in it from its beginning on.
struct StoreMarks {
  std::string_view folder;
  std::array<const char*, 2> files;
};
constexpr std::array<StoreMarks, 2> kStores = {
    {{kGraphsFolder, {"db", "staging"}}, {kRunsFolder, {"LOCK", "CURRENT"}}}};

bool HoldsStore(const fs::path& data, const StoreMarks& store) {
  return std::ranges::any_of(store.files,
                             [&](const char* file) { return fs::exists(data / store.folder / file); });
}

// Whether a store may use an entry of the folder of data: it is one, or nothing; lost+found is that of a file
// system made for them.
bool IsOurs(const fs::path& data, const std::string& name) {
  if (name == "lost+found") return true;
  const auto* const store = std::ranges::find(kStores, name, &StoreMarks::folder);
  if (store == kStores.end()) return false;
  return HoldsStore(data, *store) || (fs::is_directory(data / name) && fs::is_empty(data / name));
}

// Whether `data` is new, empty or holds our stores. Beside a store may lie what is somebody else's, but not in
// the place of the other one.
bool MayHoldStores(const fs::path& data) {
  const bool any =
      std::ranges::any_of(kStores, [&](const StoreMarks& store) { return HoldsStore(data, store); });
  const fs::directory_iterator files(data);
  return std::all_of(begin(files), end(files), [&](const auto& file) {
    const std::string name = file.path().filename().string();
    const bool in_place = std::ranges::find(kStores, name, &StoreMarks::folder) != kStores.end();
    return IsOurs(data, name) || (any && !in_place);
  });
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
                                      .kept = {.keep = options.keep_staged},
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
  const auto disk = [&graphs = *graphs] {
    const storage::KeptImports::Use kept = graphs.kept_imports();
    return metrics::DiskReading{kept.imports, kept.bytes};
  };
  StoreCheck check = CheckOf(*graphs, *run_store);
  const auto watch_lost = [&graphs = *graphs](auto watcher) { graphs.WatchLost(std::move(watcher)); };
  return Stores{std::move(graphs), std::move(run_store), steps,  databases,
                std::move(check),  watch_lost,           memory, disk};
}

}  // namespace packtrain::node
