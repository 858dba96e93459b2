#include "proto/wire/batch_assembler.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/base/crc32c.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_check.h"
#include "proto/wire/fragment_stream.h"
#include "proto/wire/header_convert.h"
#include "proto/wire/part_reader.h"

namespace packtrain::wire {
namespace {

using google::protobuf::io::CodedInputStream;

// Protobuf's own limit.
constexpr std::uint64_t kMaxMessageBytes = std::numeric_limits<std::int32_t>::max();

template <typename... Words>
absl::Status BadPart(const Words&... words) {
  return absl::DataLossError(absl::StrCat("batch part: ", words...));
}

std::uint64_t TotalBytes(std::span<const Fragment> message) {
  std::uint64_t total = 0;
  for (const Fragment& fragment : message) total += fragment.size();
  return total;
}

// The header of a first part, after its checksum and checks.
absl::StatusOr<BatchHeader> ParseHeader(const std::string& bytes, std::optional<std::uint32_t> crc32c,
                                        std::uint64_t max_body_bytes) {
  if (crc32c != base::Crc32c(std::as_bytes(std::span(bytes)))) {
    return BadPart("the header does not match its CRC32C");
  }
  v1::BatchHeader message;
  if (!message.ParseFromString(bytes)) return BadPart("the header is not a protobuf message");
  return FromMessage(message, max_body_bytes);
}

absl::StatusOr<BatchTiming> ParseTiming(const std::string& bytes) {
  v1::BatchTiming message;
  if (!message.ParseFromString(bytes)) return BadPart("the timing is not a protobuf message");
  return FromMessage(message);
}

}  // namespace

absl::StatusOr<std::optional<Batch>> BatchAssembler::Add(std::span<const Fragment> message) {
  absl::StatusOr<std::optional<Batch>> result = AddChecked(message);
  if (!result.ok()) Reset();
  return result;
}

absl::StatusOr<std::optional<Batch>> BatchAssembler::AddChecked(std::span<const Fragment> message) {
  const std::uint64_t message_bytes = TotalBytes(message);
  if (message_bytes > kMaxMessageBytes) return BadPart("a message of ", message_bytes, " bytes");
  FragmentStream stream(message);
  CodedInputStream input(&stream);
  ABSL_ASSIGN_OR_RETURN(const PartFields part, ReadPart(&input, message_bytes));
  if (idle()) {
    ABSL_RETURN_IF_ERROR(Begin(part));
  } else if (part.header) {
    return BadPart("a header in part ", pending_->next_part, " of a batch");
  }
  ABSL_RETURN_IF_ERROR(CheckNext(part));
  TakeBody(&input, part.body_bytes);
  if (!part.last) return std::nullopt;
  return Complete();
}

absl::Status BatchAssembler::Begin(const PartFields& part) {
  if (!part.header) return BadPart("the first part of a batch has no header");
  ABSL_ASSIGN_OR_RETURN(BatchHeader header, ParseHeader(*part.header, part.header_crc32c, max_body_bytes_));
  ABSL_ASSIGN_OR_RETURN(BatchTiming timing, ParseTiming(part.timing.value_or("")));
  AlignedBytes body = bodies_->Take(header.body_bytes);
  if (body == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for the body of a batch, ", header.body_bytes, " bytes"));
  }
  pending_.emplace(Pending{std::move(header), timing, std::move(body)});
  return absl::OkStatus();
}

absl::Status BatchAssembler::CheckNext(const PartFields& part) const {
  if (part.part != pending_->next_part) {
    return BadPart("part ", part.part, " where part ", pending_->next_part, " is due");
  }
  const std::uint64_t due = pending_->header.body_bytes - pending_->received_bytes;
  if (part.body_bytes > due) {
    return BadPart("part ", part.part, " brings ", part.body_bytes, " bytes, ", due, " are due");
  }
  if (part.last != (part.body_bytes == due)) {
    return BadPart("part ", part.part, part.last ? " is" : " is not", " the last, with ", part.body_bytes,
                   " bytes of ", due, " due");
  }
  if (part.body_bytes == 0 && due > 0) return BadPart("part ", part.part, " brings no bytes");
  return absl::OkStatus();
}

void BatchAssembler::TakeBody(CodedInputStream* input, std::uint64_t size) {
  const void* data;
  int available;
  while (size > 0 && input->GetDirectBufferPointer(&data, &available)) {
    const std::uint64_t n = std::min<std::uint64_t>(size, available);
    std::byte* to = pending_->body.get() + pending_->received_bytes;
    std::memcpy(to, data, n);
    pending_->crc32c = base::ExtendCrc32c(pending_->crc32c, {to, n});
    pending_->received_bytes += n;
    input->Skip(static_cast<int>(n));
    size -= n;
  }
  ++pending_->next_part;
}

absl::StatusOr<Batch> BatchAssembler::Complete() {
  Pending done = *std::exchange(pending_, std::nullopt);
  ++body_checks_;
  if (done.crc32c != done.header.body_crc32c) {
    return absl::DataLossError(absl::StrCat("batch ", done.header.index, " of epoch ", done.header.epoch,
                                            ": the body does not match its CRC32C"));
  }
  Batch batch(std::move(done.header), done.timing, std::move(done.body));
  ABSL_RETURN_IF_ERROR(CheckContent(batch));
  return batch;
}

}  // namespace packtrain::wire
