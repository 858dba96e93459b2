#include "server/node/replicator.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "server/log/event_log.h"
#include "server/storage/import_session.h"

namespace packtrain::node {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstBackOff{500};
constexpr milliseconds kLookUp{30'000};
constexpr milliseconds kCopy{6 * 3'600'000};

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

std::string FullName(const v1::Dataset& dataset) {
  return absl::StrCat(dataset.name(), "@", dataset.version());
}

// One data set on its way into the store. Used by one thread.
class Copy {
 public:
  Copy(storage::GraphStore& store, limits::MemoryMeter& memory) : store_(store), memory_(memory) {}

  // The next message of the export.
  absl::Status Take(const v1::ExportDatasetResponse& message) {
    if (message.has_header()) return Begin(message.header().dataset());
    if (session_ == nullptr) return absl::DataLossError("the copy does not begin with its header");
    if (message.has_block()) {
      absl::Status status = session_->Add(message.block());
      charge_ = memory_.Add(session_->memory_bytes());
      return status;
    }
    if (message.has_split()) return AddSplit(message.split());
    ended_ = message.has_end() && message.end().graphs() == session_->response().staged();
    return absl::OkStatus();
  }

  // Publishes it. FAILED_PRECONDITION: it is not the version it should be.
  absl::Status Seal() {
    if (!ended_) return absl::DataLossError("the copy is not whole");
    return session_->TakeWriter()->Seal(seal_).status();
  }

 private:
  absl::Status Begin(const v1::Dataset& dataset) {
    v1::ImportHeader header;
    *header.mutable_schema() = dataset.schema();
    header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<storage::ImportSession> session,
                          storage::ImportSession::Begin(store_, header));
    session_ = std::move(session);
    seal_.set_name(dataset.name());
    seal_.set_expected_version(dataset.version());
    *seal_.mutable_lineage() = dataset.lineage();
    if (dataset.splits_size() > 1) seal_.mutable_by_index();
    return absl::OkStatus();
  }

  absl::Status AddSplit(const v1::SplitBlock& block) {
    v1::SplitByIndex& splits = *seal_.mutable_by_index();
    if (block.split() == "train") splits.mutable_train()->MergeFrom(block.graphs());
    if (block.split() == "val") splits.mutable_val()->MergeFrom(block.graphs());
    if (block.split() == "test") splits.mutable_test()->MergeFrom(block.graphs());
    return absl::OkStatus();  // one that is forgotten makes another version
  }

  storage::GraphStore& store_;
  limits::MemoryMeter& memory_;
  limits::MemoryMeter::Charge charge_;
  std::unique_ptr<storage::ImportSession> session_;
  v1::SealDatasetRequest seal_;
  bool ended_ = false;
};

}  // namespace

Replicator::Replicator(storage::GraphStore& store, std::shared_ptr<limits::MemoryMeter> memory,
                       ReplicatorOptions options)
    : store_(store),
      memory_(std::move(memory)),
      options_(std::move(options)),
      stub_(v1::DatasetService::NewStub(NewChannel(options_))),
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

void Replicator::LogChange(const absl::Status& status) const {
  const bool failed_before = back_off_ > milliseconds(0);
  if (status.ok() == !failed_before) return;
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
  absl::Status status = ListDatasets(
      /*all_versions=*/true, [this](v1::Dataset& dataset) { return PullIfMissing(FullName(dataset)); });
  ABSL_RETURN_IF_ERROR(status);
  return ListDatasets(/*all_versions=*/false, [this](v1::Dataset& dataset) { return FollowName(dataset); });
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
    // One that cannot be had does not keep the others away.
    for (v1::Dataset& dataset : *response.mutable_datasets()) failure.Update(take(dataset));
    if (response.next_page_token().empty()) return failure;
    request.set_page_token(response.next_page_token());
  }
}

absl::Status Replicator::PullIfMissing(const std::string& dataset) {
  absl::Status here = store_.Versions(dataset).status();
  if (!absl::IsNotFound(here)) return here;
  absl::Status pulled = Pull(dataset);
  if (absl::IsNotFound(pulled)) return absl::OkStatus();  // deleted meanwhile
  if (pulled.ok()) {
    log::Log(log::Level::kInfo, "replica_pulled", {{"dataset", dataset}, {"primary", options_.primary}});
  }
  return pulled;
}

absl::Status Replicator::Pull(const std::string& dataset) {
  Copy copy(store_, *memory_);
  absl::Status taken;
  const absl::Status called = Call(kCopy, [&](grpc::ClientContext& context) {
    v1::ExportDatasetRequest request;
    request.set_dataset(dataset);
    const auto reader = stub_->ExportDataset(&context, request);
    v1::ExportDatasetResponse message;
    while (taken.ok() && reader->Read(&message)) taken = copy.Take(message);
    if (!taken.ok()) context.TryCancel();
    return reader->Finish();
  });
  ABSL_RETURN_IF_ERROR(taken);
  return called.ok() ? copy.Seal() : called;
}

absl::Status Replicator::FollowName(const v1::Dataset& current) {
  const absl::StatusOr<std::shared_ptr<const storage::Dataset>> here = store_.Open(current.name());
  if (here.ok() && (*here)->description().version() == current.version()) return absl::OkStatus();
  const absl::Status status = store_.MakeCurrent(FullName(current));
  return absl::IsNotFound(status) ? absl::OkStatus() : status;  // sealed since the list of versions
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
