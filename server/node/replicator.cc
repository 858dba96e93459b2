#include "server/node/replicator.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "packtrain/v1/server_info.grpc.pb.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/log/event_log.h"
#include "server/storage/import_session.h"

namespace packtrain::node {
namespace {

using std::chrono::milliseconds;
using wire::FullName;

constexpr milliseconds kFirstBackOff{500};
constexpr milliseconds kLookUp{30'000};
// Of one call; a copy goes on in the next one.
constexpr milliseconds kCopy{6 * 3'600'000};
// A copy is dropped after so many calls in a row that brought no graph, so that other data sets are copied.
constexpr int kMaxFruitless = 3;
// Around a record: its key, its place in a block's index, its sizes.
constexpr std::uint64_t kDiskBytesPerGraph = 64;

std::shared_ptr<grpc::Channel> NewChannel(const ReplicatorOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Our own back-off is the longer one.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  return grpc::CreateCustomChannel(options.primary, grpc::InsecureChannelCredentials(), arguments);
}

// Whether the primary may send the rest later.
bool IsBrokenOff(const absl::Status& called) {
  return absl::IsUnavailable(called) || absl::IsDeadlineExceeded(called) || absl::IsCancelled(called) ||
         absl::IsResourceExhausted(called);
}

// What a data set takes on disk, about: records, their keys and the index of sizes.
std::uint64_t DiskBytes(const v1::Dataset& dataset) {
  return dataset.bytes() + dataset.graphs() * kDiskBytesPerGraph;
}

}  // namespace

// One data set on its way into the store. Used by one thread.
class Replicator::Copy {
 public:
  Copy(storage::GraphStore& store, limits::MemoryBudget& memory, v1::Dataset dataset)
      : store_(store), memory_(memory), dataset_(std::move(dataset)) {}

  const v1::Dataset& dataset() const { return dataset_; }
  // All has come, and it can be sealed.
  bool whole() const { return ended_; }
  // Whether it is worth keeping after a call or a seal that ended so. A whole one waits for space on the disk
  // however long that takes: there is none for another copy either.
  bool MayGoOn(const absl::Status& ended) const {
    if (whole() && absl::IsResourceExhausted(ended)) return true;
    return usable_ && IsBrokenOff(ended) && fruitless_ < kMaxFruitless;
  }
  // Graphs that are here.
  std::uint64_t staged() const { return session_ == nullptr ? 0 : session_->response().staged(); }
  // Counts the calls in a row that brought no graph.
  void Count(bool fruitful) { fruitless_ = fruitful ? 0 : fruitless_ + 1; }

  // The next message of the export.
  absl::Status Take(const v1::ExportDatasetResponse& message) {
    usable_ = false;
    absl::Status taken = TryTake(message);
    usable_ = usable_ || taken.ok();
    return taken;
  }

  // Publishes it; may be called again after a failure of the disk. FAILED_PRECONDITION: it is not the version
  // it should be.
  absl::Status Seal() {
    if (!whole()) return absl::DataLossError("the copy is not whole");
    if (writer_ == nullptr) writer_ = session_->TakeWriter();
    ABSL_RETURN_IF_ERROR(
        reservation_.Resize(writer_->memory_bytes() + seal_.SpaceUsedLong() + writer_->seal_bytes(seal_),
                            limits::MemoryBudget::StatedWait()));
    return writer_->Seal(seal_).status();
  }

 private:
  absl::Status TryTake(const v1::ExportDatasetResponse& message) {
    if (message.has_header()) return Begin(message.header());
    if (session_ == nullptr) return absl::DataLossError("the copy does not begin with its header");
    if (message.has_block()) {
      absl::Status status = session_->Add(message.block());
      ABSL_RETURN_IF_ERROR(status);
      usable_ = true;  // whether or not there is memory for more
      return reservation_.Resize(session_->memory_bytes(), limits::MemoryBudget::StatedWait());
    }
    if (message.has_split()) return AddSplit(message.split());
    ended_ = message.has_end() && message.end().graphs() == session_->response().staged();
    return absl::OkStatus();
  }

  // Takes the header of a call. A call that does not continue where the last one ended starts over.
  absl::Status Begin(const v1::ExportHeader& sent) {
    const v1::Dataset& dataset = sent.dataset();
    if (FullName(dataset) != FullName(dataset_))
      return absl::DataLossError("the primary sends another data set");
    ended_ = false;
    seal_ = v1::SealDatasetRequest();
    seal_.set_name(dataset.name());
    seal_.set_expected_version(dataset.version());
    *seal_.mutable_lineage() = dataset.lineage();
    if (dataset.splits_size() > 1) seal_.mutable_by_index();
    return session_ != nullptr && sent.first_graph() == staged() ? absl::OkStatus() : BeginSession(dataset);
  }

  absl::Status BeginSession(const v1::Dataset& dataset) {
    session_ = nullptr;
    v1::ImportHeader header;
    *header.mutable_schema() = dataset.schema();
    header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<storage::ImportSession> session,
                          storage::ImportSession::Begin(store_, header));
    session_ = std::move(session);
    ABSL_ASSIGN_OR_RETURN(reservation_, memory_.Reserve(limits::MemoryPart::kImports, session_->memory_bytes(),
                                                        limits::MemoryBudget::StatedWait()));
    return absl::OkStatus();
  }

  absl::Status AddSplit(const v1::SplitBlock& block) {
    v1::SplitByIndex& splits = *seal_.mutable_by_index();
    if (block.split() == "train") splits.mutable_train()->MergeFrom(block.graphs());
    if (block.split() == "val") splits.mutable_val()->MergeFrom(block.graphs());
    if (block.split() == "test") splits.mutable_test()->MergeFrom(block.graphs());
    // One that is forgotten makes another version.
    return reservation_.Resize(session_->memory_bytes() + seal_.SpaceUsedLong(),
                               limits::MemoryBudget::StatedWait());
  }

  storage::GraphStore& store_;
  limits::MemoryBudget& memory_;
  const v1::Dataset dataset_;
  limits::MemoryBudget::Reservation reservation_;
  std::unique_ptr<storage::ImportSession> session_;
  std::unique_ptr<storage::DatasetWriter> writer_;  // of the session, once it is sealed
  v1::SealDatasetRequest seal_;
  bool ended_ = false;
  bool usable_ = true;
  int fruitless_ = 0;
};

Replicator::Replicator(storage::GraphStore& store, std::shared_ptr<limits::MemoryBudget> memory,
                       ReplicatorOptions options)
    : store_(store),
      memory_(std::move(memory)),
      options_(std::move(options)),
      channel_(NewChannel(options_)),
      stub_(v1::DatasetService::NewStub(channel_)),
      random_(std::random_device{}()),
      thread_([this] { FollowUntilStopped(); }) {}

Replicator::~Replicator() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
    if (context_ != nullptr) context_->TryCancel();
    changed_.NotifyAll();
  }
  thread_.join();
}

void Replicator::FollowUntilStopped() {
  milliseconds wait{0};
  while (Sleep(wait)) {
    const absl::Status status = Follow();
    LogChange(status);
    wait = status.ok() ? options_.interval : BackOff();
    if (status.ok()) back_off_ = milliseconds(0);
  }
}

void Replicator::LogChange(const absl::Status& status) {
  if (status.code() == std::exchange(followed_, status.code())) return;
  if (status.ok()) return log::Log(log::Level::kInfo, "replica_follows", {{"primary", options_.primary}});
  log::Log(log::Level::kWarn, "replica_cannot_follow",
           {{"primary", options_.primary},
            {"code", absl::StatusCodeToString(status.code())},
            {"message", std::string_view(status.message().data(), status.message().size())}});
}

bool Replicator::Sleep(milliseconds duration) {
  const auto deadline = std::chrono::steady_clock::now() + duration;
  const base::MutexLock lock(mutex_);
  while (!stopping_ && std::chrono::steady_clock::now() < deadline) changed_.WaitUntil(mutex_, deadline);
  return !stopping_;
}

milliseconds Replicator::BackOff() {
  back_off_ = std::min(std::max(2 * back_off_, kFirstBackOff), options_.max_back_off);
  std::uniform_int_distribution<std::int64_t> jitter(back_off_.count() / 2, back_off_.count());
  return milliseconds(jitter(random_));
}

absl::Status Replicator::Follow() {
  if (!primary_checked_) {
    ABSL_RETURN_IF_ERROR(CheckPrimary());
  }
  primary_checked_ = false;
  const std::string begun = copy_ == nullptr ? "" : FullName(copy_->dataset());
  absl::Status went_on = GoOn();
  if (copy_ != nullptr) return went_on;
  absl::Status status = ListDatasets(/*all_versions=*/true, [&](v1::Dataset& dataset) {
    return FullName(dataset) == begun ? went_on : PullIfMissing(dataset);
  });
  ABSL_RETURN_IF_ERROR(status);
  ABSL_RETURN_IF_ERROR(FollowNames());
  primary_checked_ = true;
  copy_ = nullptr;  // of what the primary has deleted meanwhile
  return absl::OkStatus();
}

absl::Status Replicator::GoOn() {
  if (copy_ == nullptr) return absl::OkStatus();
  const v1::Dataset dataset = copy_->dataset();
  return PullIfMissing(dataset);
}

absl::Status Replicator::CheckPrimary() {
  const auto stub = v1::ServerInfoService::NewStub(channel_);
  v1::GetServerInfoResponse info;
  absl::Status status = Call(kLookUp, [&](grpc::ClientContext& context) {
    return stub->GetServerInfo(&context, v1::GetServerInfoRequest(), &info);
  });
  ABSL_RETURN_IF_ERROR(status);
  if (info.process_id().empty() || info.process_id() != options_.process_id) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("--replica-of ", options_.primary, " is this server itself; name its primary"));
}

absl::Status Replicator::ListDatasets(bool all_versions, const Take& take) {
  v1::ListDatasetsRequest request;
  request.set_all_versions(all_versions);
  absl::Status failure;
  while (true) {
    v1::ListDatasetsResponse response;
    absl::Status status = Call(kLookUp, [&](grpc::ClientContext& context) {
      return stub_->ListDatasets(&context, request, &response);
    });
    ABSL_RETURN_IF_ERROR(status);
    for (v1::Dataset& dataset : *response.mutable_datasets()) {
      absl::Status taken = take(dataset);
      if (!taken.ok() && copy_ != nullptr) return taken;  // it was broken off, and goes on before others do
      failure.Update(taken);  // one that cannot be had does not keep the others away
    }
    if (response.next_page_token().empty()) return failure;
    request.set_page_token(response.next_page_token());
  }
}

absl::Status Replicator::PullIfMissing(const v1::Dataset& dataset) {
  const std::string name = FullName(dataset);
  absl::Status here = store_.Versions(name).status();
  if (!absl::IsNotFound(here)) return here;
  absl::Status pulled = Pull(dataset);
  if (absl::IsNotFound(pulled)) return absl::OkStatus();  // deleted meanwhile
  if (pulled.ok()) {
    log::Log(log::Level::kInfo, "replica_pulled", {{"dataset", name}, {"primary", options_.primary}});
  }
  return pulled;
}

absl::Status Replicator::Pull(const v1::Dataset& dataset) {
  if (copy_ == nullptr || FullName(copy_->dataset()) != FullName(dataset)) {
    copy_ = nullptr;  // and what it had staged, before there is more
    ABSL_RETURN_IF_ERROR(store_.CheckSpace(DiskBytes(dataset)));
    copy_ = std::make_unique<Copy>(store_, *memory_, dataset);
  }
  const std::uint64_t before = copy_->staged();
  absl::Status pulled = copy_->whole() ? absl::OkStatus() : Receive();
  copy_->Count(copy_->staged() > before);
  if (pulled.ok()) pulled = copy_->Seal();
  if (!copy_->MayGoOn(pulled)) copy_ = nullptr;
  return pulled;
}

absl::Status Replicator::Receive() {
  absl::Status taken;
  const absl::Status called = Call(kCopy, [&](grpc::ClientContext& context) {
    v1::ExportDatasetRequest request;
    request.set_dataset(FullName(copy_->dataset()));
    request.set_first_graph(copy_->staged());
    const auto reader = stub_->ExportDataset(&context, request);
    v1::ExportDatasetResponse message;
    while (taken.ok() && reader->Read(&message)) taken = copy_->Take(message);
    if (!taken.ok()) context.TryCancel();
    return reader->Finish();
  });
  return taken.ok() ? called : taken;
}

absl::Status Replicator::FollowNames() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<v1::Dataset> here, store_.List());
  std::map<std::string, std::string> versions;
  for (const v1::Dataset& dataset : here) versions[dataset.name()] = dataset.version();
  return ListDatasets(/*all_versions=*/false, [&](v1::Dataset& current) {
    const auto found = versions.find(current.name());
    if (found != versions.end() && found->second == current.version()) return absl::OkStatus();
    absl::Status status = store_.MakeCurrent(FullName(current));
    return absl::IsNotFound(status) ? absl::OkStatus() : status;  // sealed since the list of versions
  });
}

absl::Status Replicator::Call(milliseconds deadline,
                              const std::function<grpc::Status(grpc::ClientContext& context)>& call) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  {
    const base::MutexLock lock(mutex_);
    if (stopping_) return absl::CancelledError("the server is shutting down");
    context_ = &context;
  }
  const grpc::Status status = call(context);
  const base::MutexLock lock(mutex_);
  context_ = nullptr;
  return base::FromGrpcStatus(status);
}

}  // namespace packtrain::node
