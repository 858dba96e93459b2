#include "client/ingest/formats/native_file.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/first_bytes.h"
#include "client/ingest/origin.h"
#include "proto/base/crc32c.h"
#include "proto/base/status_macros.h"
#include "server/records/packed_records.h"

namespace packtrain::ingest {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are little-endian");

constexpr std::size_t kFrameHeaderBytes = 8;
// So few that they are still in the processor's cache when they are overwritten.
constexpr std::size_t kReadBytes = 64 << 10;

std::uint32_t ChecksumOf(const std::string& bytes) { return base::Crc32c(std::as_bytes(std::span(bytes))); }

void AppendNumber(std::uint32_t number, std::string& out) {
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::uint32_t NumberAt(const std::string& bytes, std::size_t offset) {
  std::uint32_t number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

}  // namespace

std::string NativeFrame(const v1::ExportDatasetResponse& message) {
  const std::string bytes = message.SerializeAsString();
  std::string frame;
  AppendNumber(static_cast<std::uint32_t>(bytes.size()), frame);
  AppendNumber(ChecksumOf(bytes), frame);
  return frame + bytes;
}

NativeFile::NativeFile(std::string path, std::uint64_t bytes)
    : path_(std::move(path)), bytes_(bytes), file_(path_, std::ios::binary) {}

absl::StatusOr<std::unique_ptr<NativeFile>> NativeFile::Open(std::string path) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (std::error_code hidden; error && std::filesystem::exists(path, hidden)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no plain file; this format is read in any order, which a pipe does not allow"));
  }
  if (error) return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
  std::unique_ptr<NativeFile> file(new NativeFile(std::move(path), bytes));
  ABSL_RETURN_IF_ERROR(file->ReadMagic());
  v1::ExportDatasetResponse message;
  ABSL_RETURN_IF_ERROR(file->ReadFrame(&message));
  if (!message.has_header()) return file->Invalid("it does not begin with its header");
  file->dataset_ = std::move(*message.mutable_header()->mutable_dataset());
  return file;
}

absl::Status NativeFile::Invalid(std::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(path_, ", byte ", position_, ": ", std::string(what)));
}

absl::Status NativeFile::ReadMagic() {
  std::string magic;
  const bool read = ReadBytes(kNativeMagic.size(), &magic).ok();
  if (read && magic == kNativeMagic) return absl::OkStatus();
  position_ = 0;
  if (read && magic.starts_with(kNativeMagic.substr(0, kNativeMagic.size() - 1))) {
    return Invalid("the file is of a native format that this program does not know; it reads format 1");
  }
  ABSL_RETURN_IF_ERROR(WithPlace(CheckNoLfsPointer(Head(), path_), ""));
  return Invalid("this is no file of `packtrain dataset export --format native`");
}

std::string NativeFile::Head() {
  std::string head(kFirstBytes, '\0');
  file_.clear();
  file_.seekg(0);
  file_.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file_.gcount()));
  return head;
}

absl::Status NativeFile::ReadBytes(std::size_t count, std::string* bytes) {
  bytes->clear();
  // What a frame's length says is not trusted further than the file reaches.
  if (count > bytes_ - std::min(bytes_, position_)) return Invalid("the file is cut off");
  bytes->reserve(count);
  while (bytes->size() < count) {
    const std::size_t before = bytes->size();
    bytes->resize(before + std::min(count - before, kReadBytes));
    file_.read(bytes->data() + before, static_cast<std::streamsize>(bytes->size() - before));
    if (!file_) return Invalid("the file is cut off");
  }
  position_ += count;
  return absl::OkStatus();
}

absl::Status NativeFile::ReadFrame(v1::ExportDatasetResponse* message) {
  ABSL_ASSIGN_OR_RETURN(const std::string bytes, ReadFrameBytes());
  return Parse(bytes, message);
}

absl::StatusOr<std::string> NativeFile::ReadFrameBytes() {
  std::string header, bytes;
  ABSL_RETURN_IF_ERROR(ReadBytes(kFrameHeaderBytes, &header));
  const std::uint32_t size = NumberAt(header, 0);
  if (size > kMaxFrameBytes) return Invalid("the file is damaged: a frame is too long");
  ABSL_RETURN_IF_ERROR(ReadBytes(size, &bytes));
  if (ChecksumOf(bytes) != NumberAt(header, 4)) return Invalid("the file is damaged: a checksum is wrong");
  return bytes;
}

absl::Status NativeFile::Parse(const std::string& bytes, v1::ExportDatasetResponse* message) const {
  return message->ParseFromString(bytes) ? absl::OkStatus()
                                         : Invalid("the file is damaged: a frame is no message");
}

absl::Status NativeFile::Finish(std::uint64_t graphs) {
  if (graphs != graphs_) {
    return Invalid(absl::StrCat("the file holds ", graphs_, " graphs, and its end says ", graphs));
  }
  return position_ == bytes_ ? absl::OkStatus() : Invalid("something follows behind the end");
}

absl::StatusOr<bool> NativeFile::Next(v1::ExportDatasetResponse* message, PackedRecords* block) {
  ABSL_ASSIGN_OR_RETURN(std::string bytes, ReadFrameBytes());
  if (block != nullptr) {
    *block = {};
    const auto found = records::FindPackedBlock(bytes, v1::ExportDatasetResponse::kBlockFieldNumber);
    if (found) {
      graphs_ += found->count;
      const std::size_t begin = bytes.size() - found->bytes.size();
      *block = {.bytes = std::move(bytes), .begin = begin, .graphs = found->count};
      return true;
    }
  }
  ABSL_RETURN_IF_ERROR(Parse(bytes, message));
  if (message->has_header() && dataset_.version().empty()) {
    *dataset_.mutable_lineage() = std::move(*message->mutable_header()->mutable_dataset()->mutable_lineage());
    ABSL_RETURN_IF_ERROR(ReadFrame(message));
  }
  if (message->has_end()) {
    ABSL_RETURN_IF_ERROR(Finish(message->end().graphs()));
    return false;
  }
  if (!message->has_block() && !message->has_split())
    return Invalid("a frame holds neither graphs nor a split");
  graphs_ += static_cast<std::uint64_t>(message->block().records_size());
  return true;
}

}  // namespace packtrain::ingest
