// Answers AdminService.
#ifndef PACKTRAIN_SERVER_SERVING_ADMIN_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_ADMIN_SERVICE_H_

#include <atomic>
#include <functional>

#include "packtrain/v1/admin.grpc.pb.h"
#include "server/limits/slots.h"
#include "server/rocks/check_report.h"
#include "server/serving/idle_watch.h"
#include "server/serving/packed_call.h"

namespace packtrain::serving {

// Calls run on the threads that gRPC keeps for synchronous services.
class AdminService final : public PackedService<v1::AdminService> {
 public:
  // Reports what it finds, and ends where the report does.
  using Check = std::function<absl::Status(rocks::CheckReport& report)>;

  // `fsck` may be null: there is nothing to check. `bounds` and `idle`, which cuts off clients that do not
  // read, outlive the service.
  AdminService(CallBounds& bounds, Check fsck, IdleWatch& idle);

  // Ends a check under way with UNAVAILABLE. Any thread.
  void Drain() { draining_ = true; }

 private:
  grpc::Status StreamCheck(grpc::ServerContext* context, const v1::FsckRequest& request,
                           PackedWriter<v1::FsckResponse>& writer, Memory&);

  const Check fsck_;
  IdleWatch& idle_;
  limits::Slots checks_;
  std::atomic<bool> draining_ = false;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_ADMIN_SERVICE_H_
