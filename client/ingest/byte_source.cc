#include "client/ingest/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "proto/base/content_hash.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kInputBytes = 256 << 10;
constexpr int kGzipWindowBits = 15 + 16;  // largest window, gzip frame
constexpr std::array<unsigned char, 2> kGzipMagic = {0x1f, 0x8b};

absl::Status ErrnoStatus(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES) return absl::PermissionDeniedError(message);
  return absl::InvalidArgumentError(message);
}

}  // namespace

// The file as it lies on disk, one buffer ahead; hashes all that passes.
class ByteSource::File {
 public:
  File(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor), buffer_(kInputBytes) {}
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t consumed_bytes() const { return read_bytes_ - available().size(); }

  // What is buffered; empty after Fill at the end of the file.
  std::span<const char> available() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void Consume(std::size_t count) { begin_ += count; }

  // Reads on when nothing is buffered.
  absl::Status Fill() {
    if (begin_ < end_) return absl::OkStatus();
    ssize_t count;
    do {
      count = ::read(descriptor_, buffer_.data(), buffer_.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) return ErrnoStatus(path_, errno);
    begin_ = 0;
    end_ = static_cast<std::size_t>(count);
    read_bytes_ += end_;
    hash_.Update(std::as_bytes(available()));
    return absl::OkStatus();
  }

  bool StartsWithGzipMagic() const {
    const std::span<const char> bytes = available();
    return bytes.size() >= kGzipMagic.size() &&
           std::memcmp(bytes.data(), kGzipMagic.data(), kGzipMagic.size()) == 0;
  }

  absl::StatusOr<FileDigest> Digest() {
    do {
      Consume(available().size());
      ABSL_RETURN_IF_ERROR(Fill());
    } while (!available().empty());
    return FileDigest{read_bytes_, hash_.HexDigest()};
  }

 private:
  const std::string path_;
  const int descriptor_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t read_bytes_ = 0;
  base::Sha256 hash_;
};

// Unpacks gzip members, one after the other.
class ByteSource::Inflater {
 public:
  Inflater() { inflateInit2(&stream_, kGzipWindowBits); }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  absl::StatusOr<std::size_t> Read(File& file, std::span<char> out) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      ABSL_RETURN_IF_ERROR(file.Fill());
      if (file.available().empty()) return End(file);
      if (member_ended_ && !BeginMember(file)) continue;
      ABSL_RETURN_IF_ERROR(Step(file));
    }
    return wanted - stream_.avail_out;
  }

 private:
  absl::StatusOr<std::size_t> End(const File& file) const {
    if (member_ended_) return 0;
    return Refusal("truncated_gzip",
                   absl::StrCat(file.path(), ": the gzip data ends too early; is the file complete?"));
  }

  // Zeros may pad the end of the last member, as tape archives do. True: a member begins or garbage does.
  bool BeginMember(File& file) {
    if (file.available().front() == 0) {
      file.Consume(1);
      return false;
    }
    inflateReset(&stream_);
    member_ended_ = false;
    return true;
  }

  absl::Status Step(File& file) {
    const std::span<const char> input = file.available();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    file.Consume(input.size() - stream_.avail_in);
    member_ended_ = result == Z_STREAM_END;
    if (result == Z_OK || result == Z_STREAM_END) return absl::OkStatus();
    return Refusal("corrupt_gzip",
                   absl::StrCat(file.path(), ": the gzip data is corrupt near byte ", file.consumed_bytes(),
                                ": ", stream_.msg == nullptr ? "no valid data" : stream_.msg));
  }

  z_stream stream_ = {};
  bool member_ended_ = false;
};

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path,
                                                             std::uint64_t max_unpacked_bytes) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ErrnoStatus(path, errno);
  auto file = std::make_unique<File>(path, descriptor);
  ABSL_RETURN_IF_ERROR(file->Fill());
  return std::unique_ptr<ByteSource>(new ByteSource(std::move(file), max_unpacked_bytes));
}

ByteSource::ByteSource(std::unique_ptr<File> file, std::uint64_t max_unpacked_bytes)
    : file_(std::move(file)), max_unpacked_bytes_(max_unpacked_bytes) {
  if (file_->StartsWithGzipMagic()) inflater_ = std::make_unique<Inflater>();
}

ByteSource::~ByteSource() = default;

const std::string& ByteSource::path() const { return file_->path(); }

std::uint64_t ByteSource::consumed_bytes() const { return file_->consumed_bytes(); }

absl::StatusOr<std::size_t> ByteSource::Read(std::span<char> out) {
  ABSL_RETURN_IF_ERROR(failure_);
  absl::StatusOr<std::size_t> count = ReadUnchecked(out);
  if (!count.ok()) return FailWith(count.status());
  unpacked_bytes_ += *count;
  if (unpacked_bytes_ <= max_unpacked_bytes_) return count;
  return FailWith(Refusal("unpacked_limit", absl::StrCat(path(), ": holds more than ", max_unpacked_bytes_,
                                                         " bytes when unpacked (--max-unpacked-bytes)")));
}

absl::StatusOr<std::size_t> ByteSource::ReadUnchecked(std::span<char> out) {
  if (inflater_ != nullptr) return inflater_->Read(*file_, out);
  ABSL_RETURN_IF_ERROR(file_->Fill());
  const std::size_t count = std::min(out.size(), file_->available().size());
  std::memcpy(out.data(), file_->available().data(), count);
  file_->Consume(count);
  return count;
}

absl::Status ByteSource::FailWith(absl::Status status) { return failure_ = std::move(status); }

absl::StatusOr<FileDigest> ByteSource::Digest() { return file_->Digest(); }

}  // namespace packtrain::ingest
