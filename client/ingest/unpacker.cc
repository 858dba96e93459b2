#include "client/ingest/unpacker.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // largest window, gzip frame
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kXzMagic{
    "\xfd"
    "7zXZ\0",
    6};
// `xz -9` needs 65 MiB.
constexpr std::uint64_t kMaxXzBytes = 72 << 20;

bool StartsWith(std::span<const char> bytes, std::string_view magic) {
  return std::string_view(bytes.data(), bytes.size()).starts_with(magic);
}

class Plain final : public Unpacker {
 public:
  absl::StatusOr<std::size_t> Read(PackedBytes& packed, std::span<char> out) override {
    ABSL_RETURN_IF_ERROR(packed.Fill());
    const std::size_t count = std::min(out.size(), packed.available().size());
    std::memcpy(out.data(), packed.available().data(), count);
    packed.Consume(count);
    return count;
  }
};

// Unpacks gzip members, one after the other.
class Gzip final : public Unpacker {
 public:
  Gzip() { inflateInit2(&stream_, kGzipWindowBits); }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  absl::StatusOr<std::size_t> Read(PackedBytes& packed, std::span<char> out) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      ABSL_RETURN_IF_ERROR(packed.Fill());
      if (packed.available().empty()) return End(packed);
      if (member_ended_ && !BeginMember(packed)) continue;
      ABSL_RETURN_IF_ERROR(Step(packed));
    }
    return wanted - stream_.avail_out;
  }

 private:
  absl::StatusOr<std::size_t> End(const PackedBytes& packed) const {
    if (member_ended_) return 0;
    return RefusedWhole(packed.path(), "truncated_gzip", "the gzip data ends too early; is the file complete?");
  }

  // Zeros may pad the end of the last member, as tape archives do. True: a member begins or garbage does.
  bool BeginMember(PackedBytes& packed) {
    if (packed.available().front() == 0) {
      packed.Consume(1);
      return false;
    }
    inflateReset(&stream_);
    member_ended_ = false;
    return true;
  }

  absl::Status Step(PackedBytes& packed) {
    const std::span<const char> input = packed.available();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    packed.Consume(input.size() - stream_.avail_in);
    unpacked_bytes_ = stream_.total_out;
    member_ended_ = result == Z_STREAM_END;
    if (result == Z_OK || result == Z_STREAM_END) return absl::OkStatus();
    return RefusedWhole(packed.path(), "corrupt_gzip",
                        absl::StrCat("the gzip data is corrupt after ", unpacked_bytes_, " bytes of a member: ",
                                     stream_.msg == nullptr ? "no valid data" : stream_.msg));
  }

  z_stream stream_ = {};
  std::uint64_t unpacked_bytes_ = 0;
  bool member_ended_ = false;
};

// Unpacks xz streams, one after the other, with padding between them.
class Xz final : public Unpacker {
 public:
  Xz() : begun_(lzma_stream_decoder(&stream_, kMaxXzBytes, LZMA_CONCATENATED)) {}
  ~Xz() override { lzma_end(&stream_); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;

  absl::StatusOr<std::size_t> Read(PackedBytes& packed, std::span<char> out) override {
    if (begun_ != LZMA_OK) return Failed(packed, begun_);
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (stream_.avail_out == out.size() && !ended_) {
      ABSL_RETURN_IF_ERROR(packed.Fill());
      ABSL_RETURN_IF_ERROR(Step(packed));
    }
    return out.size() - stream_.avail_out;
  }

 private:
  absl::Status Step(PackedBytes& packed) {
    const std::span<const char> input = packed.available();
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    const lzma_ret result = lzma_code(&stream_, input.empty() ? LZMA_FINISH : LZMA_RUN);
    packed.Consume(input.size() - stream_.avail_in);
    ended_ = result == LZMA_STREAM_END;
    return result == LZMA_OK || ended_ ? absl::OkStatus() : Failed(packed, result);
  }

  absl::Status Failed(const PackedBytes& packed, lzma_ret result) {
    if (result == LZMA_MEMLIMIT_ERROR) {
      return RefusedWhole(packed.path(), "xz_memory",
                          absl::StrCat("the xz data needs ", lzma_memusage(&stream_),
                                       " bytes of memory to unpack, the limit is ", kMaxXzBytes));
    }
    if (result == LZMA_BUF_ERROR) {
      return RefusedWhole(packed.path(), "truncated_xz", "the xz data ends too early; is the file complete?");
    }
    return RefusedWhole(packed.path(), "corrupt_xz",
                        absl::StrCat("the xz data is corrupt after ", stream_.total_out, " bytes"));
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  const lzma_ret begun_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> Unpacker::For(const PackedBytes& packed) {
  if (StartsWith(packed.available(), kGzipMagic)) return std::make_unique<Gzip>();
  if (StartsWith(packed.available(), kXzMagic)) return std::make_unique<Xz>();
  return std::make_unique<Plain>();
}

}  // namespace packtrain::ingest
