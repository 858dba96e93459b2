#include "client/ingest/unpacked_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/archive_reader.h"
#include "client/ingest/disk_file.h"
#include "client/ingest/origin.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

// In $TMPDIR, without a name: gone with the program, however that ends.
class ScratchFile {
 public:
  static absl::StatusOr<std::shared_ptr<ScratchFile>> Create() {
    std::error_code error;
    const std::string folder = std::filesystem::temp_directory_path(error).string();
    int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) descriptor = OpenAndUnlink(folder);
    if (descriptor < 0) return Failed(folder);
    return std::make_shared<ScratchFile>(descriptor);
  }
  explicit ScratchFile(int descriptor) : descriptor_(descriptor) {}
  ~ScratchFile() { ::close(descriptor_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::uint64_t size() const { return size_; }

  absl::Status Append(std::span<const char> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return Failed("a temporary file ($TMPDIR)");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      size_ += static_cast<std::uint64_t>(count);
    }
    return absl::OkStatus();
  }

  // By any thread.
  absl::StatusOr<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const {
    ssize_t count;
    do {
      count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    } while (count < 0 && errno == EINTR);
    if (count < 0) return Failed("a temporary file ($TMPDIR)");
    return static_cast<std::size_t>(count);
  }

 private:
  static int OpenAndUnlink(const std::string& folder) {
    std::string name = folder + "/packtrain-XXXXXX";
    const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) ::unlink(name.c_str());
    return descriptor;
  }
  static absl::Status Failed(const std::string& what) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot unpack to ", what, ": ", std::strerror(errno)));
  }

  const int descriptor_;
  std::uint64_t size_ = 0;
};

// Where a member lies in the scratch file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class ScratchBytes final : public PackedBytes {
 public:
  ScratchBytes(std::string path, const ScratchFile& scratch, Extent extent,
               std::atomic<std::uint64_t>& consumed)
      : PackedBytes(std::move(path)),
        scratch_(scratch),
        rest_(extent),
        consumed_(consumed),
        buffer_(kBufferBytes) {}

 private:
  absl::Status Read(std::span<const char>* bytes) override {
    const std::uint64_t wanted = std::min<std::uint64_t>(rest_.bytes, buffer_.size());
    ABSL_ASSIGN_OR_RETURN(const std::size_t count,
                          scratch_.ReadAt(rest_.offset, std::span(buffer_).first(wanted)));
    if (wanted > 0 && count == 0)
      return absl::DataLossError(absl::StrCat(path(), ": the temporary file is cut off"));
    rest_ = {rest_.offset + count, rest_.bytes - count};
    consumed_ += count;
    *bytes = {buffer_.data(), count};
    return absl::OkStatus();
  }

  const ScratchFile& scratch_;
  Extent rest_;
  std::atomic<std::uint64_t>& consumed_;
  std::vector<char> buffer_;
};

class UnpackedFolder final : public InputFolder {
 public:
  UnpackedFolder(std::shared_ptr<DiskFile> archive, FoundFiles found, std::map<std::string, Extent> extents,
                 std::shared_ptr<ScratchFile> scratch, std::uint64_t max_unpacked_bytes)
      : InputFolder(archive->path(), std::move(found)),
        archive_(std::move(archive)),
        extents_(std::move(extents)),
        scratch_(std::move(scratch)),
        max_unpacked_bytes_(max_unpacked_bytes) {}

  absl::StatusOr<std::unique_ptr<ByteSource>> Open(std::string_view name) override {
    ABSL_RETURN_IF_ERROR(CheckName(name));
    std::string file = absl::StrCat(path(), "/", std::string(name));
    auto bytes =
        std::make_shared<ScratchBytes>(std::move(file), *scratch_, extents_.at(std::string(name)), consumed_);
    ABSL_RETURN_IF_ERROR(bytes->Fill());
    return std::make_unique<ByteSource>(std::move(bytes), std::make_shared<UnpackBudget>(max_unpacked_bytes_));
  }

  std::uint64_t total_bytes() const override { return archive_->size(); }

  // What was unpacked stands for what lies on disk.
  std::uint64_t consumed_bytes() const override {
    const double share =
        scratch_->size() == 0 ? 1 : static_cast<double>(consumed_) / static_cast<double>(scratch_->size());
    return static_cast<std::uint64_t>(std::min(1.0, share) * static_cast<double>(total_bytes()));
  }

  absl::StatusOr<std::vector<v1::SourceFile>> Describe() override {
    ABSL_ASSIGN_OR_RETURN(v1::SourceFile file, archive_->Describe());
    return std::vector<v1::SourceFile>{std::move(file)};
  }

 private:
  const std::shared_ptr<DiskFile> archive_;
  const std::map<std::string, Extent> extents_;
  const std::shared_ptr<ScratchFile> scratch_;
  const std::uint64_t max_unpacked_bytes_;
  std::atomic<std::uint64_t> consumed_ = 0;
};

absl::StatusOr<Extent> CopyTo(ScratchFile& scratch, PackedBytes& member, UnpackBudget& budget) {
  const std::uint64_t begin = scratch.size();
  while (true) {
    ABSL_RETURN_IF_ERROR(member.Fill());
    if (member.available().empty()) return Extent{begin, scratch.size() - begin};
    const std::size_t bytes = member.available().size();
    if (budget.Spend(bytes) < bytes) return budget.Exceeded(member.path());
    ABSL_RETURN_IF_ERROR(scratch.Append(member.available()));
    member.Consume(bytes);
  }
}

// What is no data says so itself, as a Git LFS pointer.
absl::Status NoFolder(ByteSource& file) {
  char byte;
  ABSL_RETURN_IF_ERROR(file.Read({&byte, 1}).status());
  return RefusedWhole(file.path(), "no_folder", "expected a folder, or a tar or zip archive of one");
}

}  // namespace

absl::StatusOr<std::unique_ptr<InputFolder>> UnpackFolder(const std::string& archive,
                                                          std::span<const std::string_view> extensions,
                                                          const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<DiskFile> file, DiskFile::Open(archive));
  ABSL_ASSIGN_OR_RETURN(const FileOrArchive opened, OpenFileOrArchive(file, extensions, limits));
  ArchiveReader* const reader = opened.archive.get();
  if (reader == nullptr) return NoFolder(*opened.file);
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<ScratchFile> scratch, ScratchFile::Create());
  FoundFiles found;
  std::map<std::string, Extent> extents;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<PackedBytes> member, reader->Next());
    if (member == nullptr) break;
    ABSL_ASSIGN_OR_RETURN(const Extent extent, CopyTo(*scratch, *member, *reader->budget()));
    std::string name = member->path().substr(archive.size() + 1);
    if (!extents.try_emplace(name, extent).second) {
      return RefusedWhole(member->path(), "duplicate_member", "the archive has two members of this name");
    }
    found.files.push_back(std::move(name));
  }
  std::sort(found.files.begin(), found.files.end());
  if (reader->passed_over().count > 0) found.passed_over.push_back(reader->passed_over());
  return std::make_unique<UnpackedFolder>(std::move(file), std::move(found), std::move(extents),
                                          std::move(scratch), limits.max_unpacked_bytes);
}

}  // namespace packtrain::ingest
