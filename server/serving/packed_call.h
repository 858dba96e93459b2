// Calls whose requests are checked, and their memory reserved, before they are decoded.
//
// A synchronous service that is derived from PackedService says for each unary method what it may take:
//
//   class PlanService final : public PackedService<v1::PlanService> { ... };
//   PlanService::PlanService(CallBounds& bounds) : PackedService(bounds) {
//     Bound(&PlanService::GetPlan, {.part = limits::MemoryPart::kListings, .work_bytes = 4 << 20});
//   }
#ifndef PACKTRAIN_SERVER_SERVING_PACKED_CALL_H_
#define PACKTRAIN_SERVER_SERVING_PACKED_CALL_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/status_convert.h"
#include "server/limits/memory_budget.h"
#include "server/limits/slots.h"
#include "server/serving/idle_watch.h"
#include "server/serving/inbound_limit.h"

namespace packtrain::serving {

// Calls that are admitted at one time: of each gRPC holds a window of bytes before the call is read.
inline constexpr std::size_t kMaxUnaryCalls = 512;
// A unary call's client has this long for its whole request, and for the answer, since both hold a thread.
inline constexpr std::chrono::seconds kClientWait{30};

// What one method may take.
struct MethodBound {
  limits::MemoryPart part = limits::MemoryPart::kReports;
  std::uint64_t max_request_bytes = 64 << 10;
  // What the method makes of its request, beside the decoded message, in copies of that.
  std::uint64_t copies = 2;
  // Numbers in one repeated field.
  std::uint64_t max_elements = 1 << 16;
  // What a call allocates beside its request, its answer included, and does not reserve itself.
  std::uint64_t work_bytes = 64 << 10;
};

// The memory of a call, and its place among those under way.
struct CallMemory {
  limits::Slots::Slot place;
  limits::MemoryBudget::Reservation memory;
};

// Of a page of a list, decoded and packed: no more than what is guaranteed of the smallest budget, so that a
// list comes whatever else is going on.
inline constexpr std::uint64_t kPageBytes = 6 << 20;
// What an item counts for in a limits::Page: its packed form, but at least half of what it takes decoded, so
// that a full page keeps to kPageBytes.
std::uint64_t BytesInPage(const google::protobuf::Message& item);

// The bytes of an answer.
absl::Status Pack(const google::protobuf::Message& message, grpc::ByteBuffer& packed);

// The answers of a listing. Used by the call's thread.
using ListingStream = grpc::ServerSplitStreamer<grpc::ByteBuffer, grpc::ByteBuffer>;
template <typename Response>
class PackedWriter {
 public:
  explicit PackedWriter(ListingStream& stream) : stream_(stream) {}

  // Blocks while the client does not read; false once the call has ended.
  bool Write(const Response& message) {
    grpc::ByteBuffer packed;
    return Pack(message, packed).ok() && stream_.Write(packed, grpc::WriteOptions());
  }

 private:
  ListingStream& stream_;
};

// A predicate that is false once the client has ended the call. Borrows `context`.
std::function<bool()> WhileWanted(const grpc::ServerContextBase& context);

// Ends a call in the middle of its request; the client gets code and message of `why`, an error. Any thread.
void EndCall(grpc::ServerContextBase& context, const absl::Status& why);

// Shared by the services of a server, which it outlives. Any number of threads may use it.
class CallBounds {
 public:
  using UnaryStream = grpc::ServerUnaryStreamer<grpc::ByteBuffer, grpc::ByteBuffer>;

  explicit CallBounds(std::shared_ptr<limits::MemoryBudget> memory, const InboundLimitOptions& inbound = {})
      : memory_(std::move(memory)), calls_(kMaxUnaryCalls), slow_clients_(kClientWait), inbound_(inbound) {}

  using RequestStream = grpc::internal::ReaderInterface<grpc::ByteBuffer>;
  // Reads the one request of a call. RESOURCE_EXHAUSTED: kMaxUnaryCalls are under way, or requests hold too
  // much. CANCELLED: it did not come. Otherwise codes as Take and Parse.
  absl::StatusOr<CallMemory> Receive(grpc::ServerContext& context, RequestStream& stream,
                                     const MethodBound& bound, google::protobuf::Message& request);
  // Writes its answer.
  grpc::Status Send(grpc::ServerContext& context, UnaryStream& stream,
                    const google::protobuf::Message& response);

  // Decodes a message in two halves, as it may be read without the second one.
  //
  // Its bytes, in one piece, and their memory.
  struct Packed {
    std::string_view view() const { return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()}; }
    grpc::Slice bytes;
    limits::MemoryBudget::Reservation memory;
  };
  // Clears `packed`. INVALID_ARGUMENT: it is too large for the method. Otherwise codes as
  // MemoryBudget::Reserve.
  absl::StatusOr<Packed> Take(grpc::ByteBuffer& packed, const MethodBound& bound,
                              const google::protobuf::Message& message, const limits::MemoryBudget::Wait& wait);
  // The message; `packed.memory` grows by that of the message and of the method's work. INVALID_ARGUMENT:
  // it is no such message, or has more numbers in a field than are taken. Otherwise codes as
  // MemoryBudget::Reservation::Resize.
  static absl::Status Parse(Packed& packed, const MethodBound& bound, google::protobuf::Message& message,
                            const limits::MemoryBudget::Wait& wait);

  // What requests hold until they are taken.
  InboundLimit& inbound() { return inbound_; }

 private:
  absl::StatusOr<Packed> ReadAndTake(grpc::ServerContext& context, RequestStream& stream,
                                     const MethodBound& bound, const google::protobuf::Message& request,
                                     const limits::MemoryBudget::Wait& wait);

  const std::shared_ptr<limits::MemoryBudget> memory_;
  limits::Slots calls_;
  IdleWatch slow_clients_;
  InboundLimit inbound_;
};

// `Service` is what protoc makes of a service, such as v1::PlanService, and `Base` the synchronous one of it.
template <typename Service, typename Base = typename Service::Service>
class PackedService : public Base {
 protected:
  using UnaryStream = grpc::ServerUnaryStreamer<grpc::ByteBuffer, grpc::ByteBuffer>;

  explicit PackedService(CallBounds& bounds) : bounds_(bounds) {}

  // From the constructor of `Self`, the service. `method` is the unary method whose name its request has,
  // without "Request".
  template <typename Self, typename Request, typename Response>
  void Bound(grpc::Status (Self::*method)(grpc::ServerContext*, const Request*, Response*),
             const MethodBound& bound) {
    BoundUnary<Request, Response>(bound, [this, method](grpc::ServerContext* context, const Request& request,
                                                        Response& response, Memory&) {
      return (static_cast<Self*>(this)->*method)(context, &request, &response);
    });
  }

  // The memory of a call, which has it until its answer is sent.
  using Memory = limits::MemoryBudget::Reservation;

  // The same for a method `method` that needs more memory than can be said beforehand, for which it resizes
  // that of the call, and whose name `Self` gives another one.
  template <typename Self, typename Request, typename Response>
  void Bound(grpc::Status (Self::*method)(grpc::ServerContext*, const Request&, Response&, Memory&),
             const MethodBound& bound) {
    BoundUnary<Request, Response>(bound, [this, method](grpc::ServerContext* context, const Request& request,
                                                        Response& response, Memory& memory) {
      return (static_cast<Self*>(this)->*method)(context, request, response, memory);
    });
  }

  // The same for a method that answers with a stream.
  template <typename Self, typename Request, typename Response>
  void Bound(grpc::Status (Self::*method)(grpc::ServerContext*, const Request&, PackedWriter<Response>&,
                                          Memory&),
             const MethodBound& bound) {
    const auto answer = [this, method, bound](grpc::ServerContext* context, ListingStream* stream) {
      Request request;
      auto memory = bounds_.Receive(*context, *stream, bound, request);
      if (!memory.ok()) return base::ToGrpcStatus(memory.status());
      PackedWriter<Response> writer(*stream);
      return (static_cast<Self*>(this)->*method)(context, request, writer, memory->memory);
    };
    this->MarkMethodStreamed(
        IndexOf(Request::descriptor()->name()),
        new grpc::internal::SplitServerStreamingHandler<grpc::ByteBuffer, grpc::ByteBuffer>(answer));
  }

 private:
  template <typename Request, typename Response, typename Method>
  void BoundUnary(const MethodBound& bound, Method method) {
    const auto answer = [this, method, bound](grpc::ServerContext* context, UnaryStream* stream) {
      Request request;
      auto memory = bounds_.Receive(*context, *stream, bound, request);
      if (!memory.ok()) return base::ToGrpcStatus(memory.status());
      Response response;
      grpc::Status status = method(context, request, response, memory->memory);
      return status.ok() ? bounds_.Send(*context, *stream, response) : status;
    };
    // gRPC owns the handler.
    this->MarkMethodStreamed(
        IndexOf(Request::descriptor()->name()),
        new grpc::internal::StreamedUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>(answer));
  }

  static int IndexOf(const std::string& request) {
    constexpr std::size_t kSuffix = std::string_view("Request").size();
    return google::protobuf::DescriptorPool::generated_pool()
        ->FindServiceByName(Service::service_full_name())
        ->FindMethodByName(request.substr(0, request.size() - kSuffix))
        ->index();
  }

  CallBounds& bounds_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_PACKED_CALL_H_
