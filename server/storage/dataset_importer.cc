#include "server/storage/dataset_importer.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/limits/guarded.h"
#include "server/log/event_log.h"
#include "server/storage/derive.h"
#include "server/storage/seal.h"
#include "server/storage/staging_queue.h"

namespace packtrain::storage {
namespace {

constexpr std::size_t kMaxLineageBytes = 1 << 20;

// Graphs between two looks at how much memory a derivation holds.
constexpr std::uint64_t kGraphsOfMemoryCheck = 1024;

void LogSealed(const DatasetWriter::SealResult& sealed) {
  log::Log(log::Level::kInfo, "dataset_sealed",
           {{"dataset", wire::FullName(sealed.dataset)},
            {"graphs", std::uint64_t{sealed.dataset.graphs()}},
            {"unchanged", sealed.unchanged ? "true" : "false"}});
}

// Of a file that is being written, one that is ending, and of what waits for them, beside what the session
// counts.
constexpr std::uint64_t kStagingBytes = (2 << 20) + StagingQueue::kMaxBytes;

// Takes what an import holds now.
absl::Status Hold(std::uint64_t session_bytes, limits::MemoryBudget::Reservation& memory,
                  const std::function<bool()>& wanted, std::uint64_t message_bytes = 0) {
  return memory.Resize(kStagingBytes + session_bytes,
                       {limits::MemoryBudget::StatedWait(), wanted, message_bytes});
}

absl::Status HoldMore(std::uint64_t bytes, limits::MemoryBudget::Reservation& memory,
                      const std::function<bool()>& wanted) {
  return memory.Resize(memory.bytes() + bytes, {limits::MemoryBudget::StatedWait(), wanted});
}

// Of the request that seals a derived data set: its splits, whose lists may have room for as many again.
constexpr std::uint64_t kSealRequestBytesOfAGraph = 8;

// Seals once there is memory for it, which `memory` has then as well.
absl::StatusOr<DatasetWriter::SealResult> SealWith(DatasetWriter& writer, const v1::SealDatasetRequest& request,
                                                   limits::MemoryBudget::Reservation& memory,
                                                   const std::function<bool()>& wanted) {
  ABSL_RETURN_IF_ERROR(HoldMore(writer.seal_bytes(request), memory, wanted));
  return writer.Seal(request);
}

std::int64_t NowMs() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

absl::Status CheckEnd(const v1::ImportEnd& end, std::uint64_t received) {
  if (end.drop()) return absl::FailedPreconditionError("the client has dropped the import");
  if (end.graphs() == received) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the import's end speaks of ", end.graphs(), " graphs, but ",
                                                 received, " came; it was dropped"));
}

absl::Status NoEnd() {
  return absl::InvalidArgumentError(
      "the import ended without its end message, or a message was no valid protobuf (such as text that is not "
      "UTF-8)");
}

// Whether an import that ended so may go on: its client, the connection or the server was lost, or had no room
// in memory. What is kept of one that found the disk full would keep the disk full.
bool BrokeOff(const absl::Status& failure) {
  return absl::IsCancelled(failure) || absl::IsUnavailable(failure) || absl::IsDeadlineExceeded(failure) ||
         absl::IsAborted(failure) || base::ReasonOf(failure) == base::kMemoryLimit;
}

absl::Status TakenOver() {
  return base::WithReason(
      absl::AbortedError("another client goes on with this import; it was ended here, and nothing is lost"),
      "IMPORT_TAKEN_OVER");
}

// How long an import that is taken over has to end.
constexpr std::chrono::seconds kEndWait{10};

absl::Status StillUnderWay() {
  return base::WithRetryDelay(
      base::WithReason(
          absl::UnavailableError("an import of the same identity is under way and has not ended yet"),
          "IMPORT_UNDER_WAY"),
      std::chrono::seconds(1));
}

void LogBegun(const v1::ImportHeader& header, const v1::ImportGraphsResponse& response) {
  if (response.received() == 0) {
    log::Log(log::Level::kInfo, "import_began", {});
  } else {
    log::Log(log::Level::kInfo, "import_continued",
             {{"dataset", header.identity().name()}, {"graphs", std::uint64_t{response.received()}}});
  }
}

// It stands in every description of the data set, which a client must be able to take.
absl::Status CheckLineage(const v1::Lineage& lineage) {
  const std::size_t bytes = lineage.ByteSizeLong();
  if (bytes <= kMaxLineageBytes) return absl::OkStatus();
  return base::WithField(
      absl::InvalidArgumentError(absl::StrCat("lineage has ", bytes, " bytes, at most ", kMaxLineageBytes,
                                              " are taken; name fewer sources")),
      "lineage");
}

// Of a seal or a derivation.
template <typename Response>
Response ResponseOf(DatasetWriter::SealResult sealed) {
  LogSealed(sealed);
  Response response;
  *response.mutable_dataset() = std::move(sealed.dataset);
  response.set_unchanged(sealed.unchanged);
  return response;
}

}  // namespace

DatasetImporter::DatasetImporter(GraphStore& store, std::shared_ptr<limits::MemoryBudget> memory,
                                 DatasetImporterOptions options)
    : store_(store),
      memory_(std::move(memory)),
      max_refused_bytes_(options.max_refused_bytes),
      program_version_(std::move(options.program_version)),
      imports_(options.imports) {}

absl::Status DatasetImporter::CheckNotDraining() const {
  if (!draining_) return absl::OkStatus();
  return base::WithReason(
      absl::UnavailableError("the server is shutting down and takes no import; import again later"),
      "SHUTTING_DOWN");
}

absl::StatusOr<limits::Slots::Slot> DatasetImporter::Admit() {
  ABSL_RETURN_IF_ERROR(CheckNotDraining());
  return imports_.Begin();
}

absl::StatusOr<v1::ImportGraphsResponse> DatasetImporter::Import(limits::Slots::Slot slot, NextMessage next,
                                                                 const std::function<bool()>& wanted,
                                                                 RunningImports::End end) {
  return limits::Guarded([&] { return ImportAll(std::move(slot), next, wanted, std::move(end)); });
}

absl::StatusOr<v1::ImportGraphsResponse> DatasetImporter::ImportAll(limits::Slots::Slot slot, NextMessage next,
                                                                    const std::function<bool()>& wanted,
                                                                    RunningImports::End end) {
  ABSL_ASSIGN_OR_RETURN(const ImportMessage message, next(/*held_bytes=*/0));
  const v1::ImportGraphsRequest* const first = message.decoded();
  if (first == nullptr || !first->has_header()) {
    return absl::InvalidArgumentError("the first message of an import must be its header");
  }
  ABSL_RETURN_IF_ERROR(CheckIdentity(first->header()));
  std::optional<ImportKey> key;
  if (first->header().has_identity()) key = KeyOf(first->header().identity());
  std::optional<RunningImports::Place> place;  // until the import is found among those that wait for their seal
  if (key) place.emplace(running_, *key, std::move(end));
  ABSL_ASSIGN_OR_RETURN(limits::MemoryBudget::Reservation memory, ReserveFirst(wanted));
  std::uint64_t message_bytes = 0;  // of the block that is staged
  const auto take = [&](std::uint64_t bytes) { return Hold(bytes, memory, wanted, message_bytes); };
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ImportSession> session,
                        BeginSession(first->header(), memory, wanted, take));
  bool has_ended = false;  // the stream, which a connection that is lost may look like
  const auto read = [&](std::uint64_t held_bytes) -> absl::StatusOr<ImportMessage> {
    ABSL_ASSIGN_OR_RETURN(const ImportMessage next_message, next(held_bytes));
    has_ended = next_message.is_none();
    message_bytes = next_message.memory_bytes();
    return next_message;
  };
  const absl::Status staged = StageBlocks(*session, read, memory, take);
  if (staged.ok() || has_ended || BrokeOff(staged)) {
    // A file that cannot be ended now is no failure of the import: its seal tries again.
    session->Checkpoint(/*all=*/true).IgnoreError();
  } else {
    session->DropAtEnd();
  }
  ABSL_RETURN_IF_ERROR(staged);
  v1::ImportGraphsResponse response = session->response();
  log::Log(log::Level::kInfo, "import_staged",
           {{"received", std::uint64_t{response.received()}}, {"staged", std::uint64_t{response.staged()}}});
  std::unique_ptr<DatasetWriter> writer = session->TakeWriter();
  memory.ShrinkTo(kStagingBytes + writer->memory_bytes());  // its last file may still be open
  response.set_import_id(imports_.Add({std::move(slot), std::move(memory), std::move(writer), std::move(key)}));
  return response;
}

absl::StatusOr<std::unique_ptr<ImportSession>> DatasetImporter::BeginSession(
    const v1::ImportHeader& header, limits::MemoryBudget::Reservation& memory,
    const std::function<bool()>& wanted, edges::WorkingMemory::Take take) {
  const auto read = [&](std::uint64_t memory_bytes) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckNotDraining());
    if (wanted != nullptr && !wanted()) return absl::CancelledError("the client went away");
    return Hold(memory_bytes, memory, wanted);
  };
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ImportSession> session,
                        ImportSession::Begin(store_, header, max_refused_bytes_, read, std::move(take)));
  LogBegun(header, session->response());
  return session;
}

absl::StatusOr<v1::ContinueImportResponse> DatasetImporter::Continue(const v1::ContinueImportRequest& request) {
  ABSL_RETURN_IF_ERROR(CheckNotDraining());
  const v1::ImportHeader& header = request.header();
  if (!header.has_identity()) {
    return base::WithField(
        absl::InvalidArgumentError("the header has no identity: nothing is kept without one"),
        "header.identity");
  }
  ABSL_RETURN_IF_ERROR(CheckIdentity(header));
  const ImportKey key = KeyOf(header.identity());
  if (!running_.EndAll(key, TakenOver(), RunningImports::Clock::now() + kEndWait)) return StillUnderWay();
  imports_.DropOf(key);
  return store_.FindKept(header);
}

absl::Status DatasetImporter::StageBlocks(ImportSession& session, NextMessage next,
                                          const limits::MemoryBudget::Reservation& memory,
                                          const edges::WorkingMemory::Take& take) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const ImportMessage message, next(memory.bytes()));
    ABSL_RETURN_IF_ERROR(CheckNotDraining());
    const v1::ImportGraphsRequest* const decoded = message.decoded();
    if (decoded != nullptr && decoded->has_end()) {
      return CheckEnd(decoded->end(), session.response().received());
    }
    if (message.records()) {
      ABSL_RETURN_IF_ERROR(session.Add(*message.records()));
    } else if (decoded != nullptr && (decoded->has_block() || decoded->has_records())) {
      ABSL_RETURN_IF_ERROR(decoded->has_block() ? session.Add(decoded->block())
                                                : session.Add(decoded->records()));
    } else {
      return NoEnd();
    }
    ABSL_RETURN_IF_ERROR(session.Checkpoint(/*all=*/false));
    ABSL_RETURN_IF_ERROR(take(session.memory_bytes()));
  }
}

absl::StatusOr<limits::MemoryBudget::Reservation> DatasetImporter::ReserveFirst(
    const std::function<bool()>& wanted) {
  return memory_->Reserve(limits::MemoryPart::kImports, kStagingBytes,
                          {limits::MemoryBudget::StatedWait(), wanted});
}

absl::StatusOr<v1::SealDatasetResponse> DatasetImporter::Seal(const v1::SealDatasetRequest& request,
                                                              const std::function<bool()>& wanted) {
  ABSL_RETURN_IF_ERROR(CheckNotDraining());
  ABSL_RETURN_IF_ERROR(CheckLineage(request.lineage()));
  ABSL_ASSIGN_OR_RETURN(StagedImports::Import import, imports_.Take(request.import_id()));
  const std::uint64_t staged_bytes = import.memory.bytes();
  absl::StatusOr<DatasetWriter::SealResult> sealed =
      limits::Guarded([&] { return SealWith(*import.writer, request, import.memory, wanted); });
  if (!sealed.ok()) {
    import.memory.ShrinkTo(staged_bytes);
    imports_.PutBack(request.import_id(), std::move(import));
    return sealed.status();
  }
  return ResponseOf<v1::SealDatasetResponse>(*std::move(sealed));
}

absl::StatusOr<v1::DeriveDatasetResponse> DatasetImporter::Derive(const v1::DeriveDatasetRequest& request,
                                                                  const std::function<bool()>& wanted) {
  return limits::Guarded([&] { return StageAndSeal(request, wanted); });
}

absl::StatusOr<v1::DeriveDatasetResponse> DatasetImporter::StageAndSeal(const v1::DeriveDatasetRequest& request,
                                                                        const std::function<bool()>& wanted) {
  ABSL_RETURN_IF_ERROR(CheckDatasetName(request.name()));
  ABSL_ASSIGN_OR_RETURN(const limits::Slots::Slot slot, Admit());
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<const Dataset> source, store_.Open(request.dataset()));
  ABSL_ASSIGN_OR_RETURN(limits::MemoryBudget::Reservation memory, ReserveFirst(wanted));
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<DatasetWriter> writer, Stage(*source, request, memory, wanted));
  ABSL_RETURN_IF_ERROR(
      HoldMore(kSealRequestBytesOfAGraph * std::uint64_t{source->description().graphs()}, memory, wanted));
  const v1::SealDatasetRequest seal = SealOf(*source, request);
  ABSL_RETURN_IF_ERROR(CheckLineage(seal.lineage()));
  ABSL_ASSIGN_OR_RETURN(DatasetWriter::SealResult sealed, SealWith(*writer, seal, memory, wanted));
  return ResponseOf<v1::DeriveDatasetResponse>(std::move(sealed));
}

absl::StatusOr<std::unique_ptr<DatasetWriter>> DatasetImporter::Stage(const Dataset& source,
                                                                      const v1::DeriveDatasetRequest& request,
                                                                      limits::MemoryBudget::Reservation& memory,
                                                                      const std::function<bool()>& wanted) {
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t source_bytes, SourceGraphBytes(source));
  const auto take = [&](std::uint64_t bytes) { return Hold(source_bytes + bytes, memory, wanted); };
  ABSL_RETURN_IF_ERROR(take(0));
  std::uint64_t graphs = 0;
  const auto progress = [&](std::uint64_t memory_bytes) {
    if (graphs++ % kGraphsOfMemoryCheck == 0) {
      ABSL_RETURN_IF_ERROR(take(memory_bytes));
    }
    return wanted == nullptr || wanted() ? CheckNotDraining() : absl::CancelledError("the client went away");
  };
  return StageDerived(store_, source, request, progress, take);
}

v1::SealDatasetRequest DatasetImporter::SealOf(const Dataset& source,
                                               const v1::DeriveDatasetRequest& request) const {
  v1::SealDatasetRequest seal = SealOfDerived(source, request);
  seal.mutable_lineage()->set_program_version(program_version_);
  seal.mutable_lineage()->set_imported_at_ms(NowMs());
  return seal;
}

}  // namespace packtrain::storage
