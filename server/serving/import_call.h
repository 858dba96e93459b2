// One ImportGraphs call, read by a thread that waits for the client for a limited time.
#ifndef PACKTRAIN_SERVER_SERVING_IMPORT_CALL_H_
#define PACKTRAIN_SERVER_SERVING_IMPORT_CALL_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/mutex.h"
#include "server/limits/memory_budget.h"
#include "server/serving/inbound_limit.h"
#include "server/serving/packed_call.h"
#include "server/storage/import_message.h"

namespace packtrain::serving {

// gRPC's threads call the reactions; one other thread calls Next and, last of all, End. Deletes itself once
// both sides have let go.
class ImportCall final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  // `idle_limit`: how long Next waits for one message, which has at most `max_message_bytes`. The memory of a
  // message is reserved before it is decoded; `bounds` and `context` outlive the call.
  ImportCall(CallBounds& bounds, grpc::CallbackServerContext& context, std::uint64_t max_message_bytes,
             std::chrono::milliseconds idle_limit)
      : bounds_(bounds), context_(context), max_message_bytes_(max_message_bytes), idle_limit_(idle_limit) {}

  // The next message, valid until the next call of Next or End, of an import that holds `held_bytes` beside it;
  // none where the client sends no more. A block of records is not decoded. CANCELLED: the call broke off.
  // DEADLINE_EXCEEDED: nothing came for the limit. RESOURCE_EXHAUSTED: requests hold too much. After Break, its
  // status. Otherwise codes as CallBounds::Take and Parse. The one that follows is received in the meantime: at
  // most one packed message of a call lies in memory that is not reserved.
  absl::StatusOr<storage::ImportMessage> Next(std::uint64_t held_bytes);
  // Not once Break was called, or the call broke off.
  bool IsWanted() const;
  // Ends the wait of Next, and those to come, with `why`. Any thread, before End.
  void Break(const absl::Status& why);
  // Answers the client; a failure after Break with its status.
  void End(const absl::Status& status);

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  void Read();
  // Whether a message came.
  absl::StatusOr<bool> AwaitMessage();
  // What is in `taken_`.
  absl::StatusOr<storage::ImportMessage> Unpack(const MethodBound& bound,
                                                const limits::MemoryBudget::Wait& wait);

  CallBounds& bounds_;
  grpc::CallbackServerContext& context_;
  const std::uint64_t max_message_bytes_;
  const std::chrono::milliseconds idle_limit_;

  std::optional<InboundLimit::Request> inbound_;  // of the message that is read, until it is taken
  grpc::ByteBuffer packed_;                       // the read's while one is under way
  bool read_ahead_ = false;                       // the next message is read while this one is staged
  CallBounds::Packed taken_;                      // the message, with the memory of all that is made of it
  std::vector<std::string_view> records_;         // in it
  std::optional<v1::ImportGraphsRequest> message_;

  base::CondVar changed_;
  mutable base::Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool more_ ABSL_GUARDED_BY(mutex_) = true;
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
};

// The imports that are waited for when a server stops. Any number of threads may use it.
class OpenImports {
 public:
  // `call` can be broken from now on until Remove, which comes before its end.
  void Add(ImportCall& call);
  void Remove(ImportCall& call);
  // Breaks all there are, and those that come.
  void BreakAll(const absl::Status& why);

 private:
  base::Mutex mutex_;
  std::set<ImportCall*> calls_ ABSL_GUARDED_BY(mutex_);
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_IMPORT_CALL_H_
