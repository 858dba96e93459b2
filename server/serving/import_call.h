// One ImportGraphs call, read by a thread that waits for the client for a limited time.
#ifndef PACKTRAIN_SERVER_SERVING_IMPORT_CALL_H_
#define PACKTRAIN_SERVER_SERVING_IMPORT_CALL_H_

#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/mutex.h"

namespace packtrain::serving {

// gRPC's threads call the reactions; one other thread calls Next and, last of all, End. Deletes itself once
// both sides have let go.
class ImportCall final : public grpc::ServerReadReactor<v1::ImportGraphsRequest> {
 public:
  // `idle_limit`: how long Next waits for one message.
  explicit ImportCall(std::chrono::milliseconds idle_limit) : idle_limit_(idle_limit) {}

  // The next message, valid until the next call of Next or End; null where the client sends no more or a
  // message does not parse. CANCELLED: the call broke off. DEADLINE_EXCEEDED: nothing came for the limit. After
  // Break, its status.
  absl::StatusOr<const v1::ImportGraphsRequest*> Next();
  // Ends the wait of Next, and those to come, with `why`. Any thread, before End.
  void Break(const absl::Status& why);
  // Answers the client.
  void End(const absl::Status& status);

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  const std::chrono::milliseconds idle_limit_;

  v1::ImportGraphsRequest message_;  // the read's while one is under way

  base::CondVar changed_;
  base::Mutex mutex_;
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
