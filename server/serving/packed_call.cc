#include "server/serving/packed_call.h"

#include <grpc/grpc.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "server/serving/decoded_bytes.h"

namespace packtrain::serving {
namespace {

using limits::MemoryBudget;

constexpr std::chrono::seconds kRetryDelay{1};

absl::Status TooManyCalls() {
  const std::string limit = absl::StrCat(kMaxUnaryCalls);
  return base::WithRetryDelay(base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                                   limit, " calls are under way, the server's limit")),
                                               "CALL_LIMIT", {{"limit", limit}}),
                              kRetryDelay);
}

absl::Status TooLarge(const google::protobuf::Message& message, std::uint64_t bytes, std::uint64_t limit) {
  return absl::InvalidArgumentError(absl::StrCat("a ", message.GetDescriptor()->name(), " of ", bytes,
                                                 " bytes: at most ", limit, " are taken"));
}

}  // namespace

std::uint64_t BytesInPage(const google::protobuf::Message& item) {
  return std::max<std::uint64_t>(item.ByteSizeLong(), item.SpaceUsedLong() / 2);
}

absl::Status Pack(const google::protobuf::Message& message, grpc::ByteBuffer& packed) {
  bool own = false;
  return base::FromGrpcStatus(
      grpc::SerializationTraits<google::protobuf::Message>::Serialize(message, &packed, &own));
}

void EndCall(grpc::ServerContextBase& context, const absl::Status& why) {
  grpc_call_cancel_with_status(context.c_call(), static_cast<grpc_status_code>(why.code()),
                               std::string(why.message()).c_str(), nullptr);
}

std::function<bool()> WhileWanted(const grpc::ServerContextBase& context) {
  return [&context] { return !context.IsCancelled(); };
}

absl::StatusOr<CallMemory> CallBounds::Receive(grpc::ServerContext& context, RequestStream& stream,
                                               const MethodBound& bound, google::protobuf::Message& request) {
  std::optional<limits::Slots::Slot> place = calls_.Take();
  if (!place.has_value()) return TooManyCalls();
  const MemoryBudget::Wait wait(MemoryBudget::StatedWait(), WhileWanted(context));
  ABSL_ASSIGN_OR_RETURN(Packed taken, ReadAndTake(context, stream, bound, request, wait));
  ABSL_RETURN_IF_ERROR(Parse(taken, bound, request, wait));
  return CallMemory{*std::move(place), std::move(taken.memory)};
}

absl::StatusOr<CallBounds::Packed> CallBounds::ReadAndTake(grpc::ServerContext& context, RequestStream& stream,
                                                           const MethodBound& bound,
                                                           const google::protobuf::Message& request,
                                                           const MemoryBudget::Wait& wait) {
  InboundLimit::Request inbound(inbound_, context.peer(),
                                [&context](const absl::Status& why) { EndCall(context, why); });
  grpc::ByteBuffer packed;
  bool came = false;
  {
    IdleWatch::Call watched(slow_clients_, [&context] { context.TryCancel(); });
    watched.BeginWait();
    came = stream.Read(&packed);
  }
  const std::uint64_t length = came ? packed.Length() : 0;
  absl::StatusOr<Packed> taken = absl::CancelledError("the request did not come whole");
  if (came) taken = Take(packed, bound, request, wait);
  ABSL_RETURN_IF_ERROR(inbound.Leave(length));
  return taken;
}

grpc::Status CallBounds::Send(grpc::ServerContext& context, UnaryStream& stream,
                              const google::protobuf::Message& response) {
  grpc::ByteBuffer packed;
  if (const absl::Status status = Pack(response, packed); !status.ok()) return base::ToGrpcStatus(status);
  IdleWatch::Call watched(slow_clients_, [&context] { context.TryCancel(); });
  watched.BeginWait();
  if (stream.Write(packed)) return grpc::Status::OK;
  return grpc::Status(grpc::StatusCode::CANCELLED, "the client took no answer");
}

absl::StatusOr<CallBounds::Packed> CallBounds::Take(grpc::ByteBuffer& packed, const MethodBound& bound,
                                                    const google::protobuf::Message& message,
                                                    const MemoryBudget::Wait& wait) {
  const std::uint64_t length = packed.Length();
  if (length > bound.max_request_bytes) return TooLarge(message, length, bound.max_request_bytes);
  Packed taken;
  ABSL_ASSIGN_OR_RETURN(taken.memory, memory_->Reserve(bound.part, length, wait));
  if (!packed.DumpToSingleSlice(&taken.bytes).ok()) {
    return absl::InvalidArgumentError("the request is compressed");
  }
  packed.Clear();
  return taken;
}

absl::Status CallBounds::Parse(Packed& packed, const MethodBound& bound, google::protobuf::Message& message,
                               const MemoryBudget::Wait& wait) {
  const std::string_view bytes = packed.view();
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t decoded,
                        DecodedBytes(*message.GetDescriptor(), bytes, bound.max_elements));
  ABSL_RETURN_IF_ERROR(packed.memory.Resize(bytes.size() + decoded * bound.copies + bound.work_bytes, wait));
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the request is no valid ", message.GetDescriptor()->full_name(), ", or holds text that is not UTF-8"));
}

}  // namespace packtrain::serving
