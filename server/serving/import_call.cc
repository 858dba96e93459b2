#include "server/serving/import_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "server/records/packed_records.h"

namespace packtrain::serving {

absl::StatusOr<storage::ImportMessage> ImportCall::Next(std::uint64_t held_bytes) {
  message_.reset();
  records_ = {};
  taken_ = {};
  if (!std::exchange(read_ahead_, false)) Read();
  ABSL_ASSIGN_OR_RETURN(const bool came, AwaitMessage());
  if (!came) return storage::ImportMessage();
  const std::uint64_t length = packed_.Length();
  const MethodBound bound{.part = limits::MemoryPart::kImports,
                          .max_request_bytes = max_message_bytes_,
                          .copies = 1,
                          .max_elements = max_message_bytes_};
  const limits::MemoryBudget::Wait wait(
      limits::MemoryBudget::StatedWait(), [this] { return IsWanted(); }, held_bytes);
  ABSL_ASSIGN_OR_RETURN(taken_,
                        bounds_.Take(packed_, bound, v1::ImportGraphsRequest::default_instance(), wait));
  ABSL_RETURN_IF_ERROR(inbound_->Leave(length));
  ABSL_ASSIGN_OR_RETURN(const storage::ImportMessage message, Unpack(bound, wait));
  read_ahead_ = !message_ || !message_->has_end();
  if (read_ahead_) Read();
  return message;
}

absl::StatusOr<storage::ImportMessage> ImportCall::Unpack(const MethodBound& bound,
                                                          const limits::MemoryBudget::Wait& wait) {
  const auto block = records::FindPackedBlock(taken_.view(), v1::ImportGraphsRequest::kRecordsFieldNumber);
  if (block) {
    const std::uint64_t bytes = taken_.bytes.size() + block->count * sizeof(std::string_view);
    ABSL_RETURN_IF_ERROR(taken_.memory.Resize(bytes, wait));
    records_ = records::RecordsOf(*block);
    return storage::ImportMessage(records_, bytes);
  }
  message_.emplace();
  ABSL_RETURN_IF_ERROR(CallBounds::Parse(taken_, bound, *message_, wait));
  taken_.bytes = {};
  return storage::ImportMessage(&*message_);
}

bool ImportCall::IsWanted() const {
  base::MutexLock lock(mutex_);
  return broken_.ok();
}

void ImportCall::Read() {
  inbound_.emplace(bounds_.inbound(), context_.peer(), [this](const absl::Status& why) {
    Break(why);
    EndCall(context_, why);
  });
  {
    base::MutexLock lock(mutex_);
    reading_ = true;
  }
  StartRead(&packed_);
}

absl::StatusOr<bool> ImportCall::AwaitMessage() {
  const auto deadline = std::chrono::steady_clock::now() + idle_limit_;
  base::MutexLock lock(mutex_);
  while (reading_ && broken_.ok()) {
    if (changed_.WaitUntil(mutex_, deadline)) continue;
    return absl::DeadlineExceededError(absl::StrCat("the import sent nothing for ",
                                                    static_cast<double>(idle_limit_.count()) / 1000,
                                                    " s and was ended (packtraind --idle-timeout)"));
  }
  ABSL_RETURN_IF_ERROR(broken_);
  return more_;
}

void ImportCall::End(const absl::Status& status) {
  inbound_.reset();
  absl::Status outcome = status;
  if (!status.ok()) {
    base::MutexLock lock(mutex_);
    if (!broken_.ok()) outcome = broken_;
  }
  Finish(base::ToGrpcStatus(outcome));
}

void ImportCall::OnReadDone(bool ok) {
  base::MutexLock lock(mutex_);
  reading_ = false;
  more_ = ok;
  changed_.NotifyAll();
}

void ImportCall::Break(const absl::Status& why) {
  base::MutexLock lock(mutex_);
  broken_.Update(why);
  changed_.NotifyAll();
}

void ImportCall::OnCancel() { Break(absl::CancelledError("the import broke off")); }

void OpenImports::Add(ImportCall& call) {
  base::MutexLock lock(mutex_);
  calls_.insert(&call);
  if (!broken_.ok()) call.Break(broken_);
}

void OpenImports::Remove(ImportCall& call) {
  base::MutexLock lock(mutex_);
  calls_.erase(&call);
}

void OpenImports::BreakAll(const absl::Status& why) {
  base::MutexLock lock(mutex_);
  broken_ = why;
  for (ImportCall* call : calls_) call->Break(why);
}

}  // namespace packtrain::serving
