#include "client/ingest/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/ingest/first_bytes.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
// What the library says of bytes that are none of the formats asked for.
constexpr std::string_view kUnknownFormat = "Unrecognized archive format";
// Zeros that end a tar archive; one block is half of what the standard asks for.
constexpr std::uint64_t kTarEndBytes = 512;

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

// libarchive gives names in the thread's locale, and none where that cannot spell them.
class Utf8Locale {
 public:
  Utf8Locale() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_ != nullptr) before_ = uselocale(utf8_);
  }
  ~Utf8Locale() {
    if (utf8_ == nullptr) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  const locale_t utf8_;
  locale_t before_ = nullptr;
};

std::string WithoutDotSlash(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  return std::string(name);
}

bool IsNamedTar(const std::string& path) {
  constexpr std::array<std::string_view, 5> kEndings = {".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

bool IsUnsafe(const std::string& name) {
  if (name.empty() || name.starts_with('/')) return true;
  const std::vector<std::string> folders = absl::StrSplit(name, '/');
  return std::find(folders.begin(), folders.end(), "..") != folders.end();
}

}  // namespace

// The bytes of an archive.
class ArchiveReader::Input {
 public:
  virtual ~Input() = default;
  virtual const std::string& path() const = 0;
  virtual int Support(archive* reader) const = 0;
  virtual absl::StatusOr<std::size_t> Read(std::span<char> out) = 0;
  // Whether what was read ends as an archive does, behind its last member.
  virtual absl::StatusOr<bool> EndsWell() = 0;
  // False for an archive of no members that the library would call no archive.
  virtual absl::StatusOr<bool> MayHaveMembers() { return true; }
  // Why the library knows no archive in it.
  virtual std::string_view WhyUnknown() const = 0;
  virtual bool can_seek() const { return false; }
  virtual std::int64_t Seek(std::int64_t /*offset*/, int /*whence*/) { return ARCHIVE_FATAL; }

  static la_ssize_t OnRead(archive* reader, void* impl, const void** bytes);
  static la_int64_t OnSeek(archive* reader, void* impl, la_int64_t offset, int whence);
};

class ArchiveReader::TarInput final : public ArchiveReader::Input {
 public:
  explicit TarInput(std::unique_ptr<ByteSource> tar) : tar_(std::move(tar)) {}

  const std::string& path() const override { return tar_->path(); }
  std::string_view WhyUnknown() const override { return "the file is cut off, or is no tar archive"; }
  // Archives may have been written one behind the other.
  int Support(archive* reader) const override {
    const int supported = archive_read_support_format_tar(reader);
    archive_read_set_format_option(reader, "tar", "read_concatenated_archives", "1");
    return supported;
  }

  absl::StatusOr<std::size_t> Read(std::span<char> out) override {
    ABSL_ASSIGN_OR_RETURN(const std::size_t count, tar_->ReadArchive(out));
    const std::span<const char> read = out.first(count);
    const auto last = std::find_if(read.rbegin(), read.rend(), [](char c) { return c != '\0'; });
    const auto zeros = static_cast<std::uint64_t>(last - read.rbegin());
    zeros_at_end_ = zeros == count ? zeros_at_end_ + zeros : zeros;
    return count;
  }

  absl::StatusOr<bool> EndsWell() override {
    std::vector<char> rest(kBufferBytes);
    for (std::size_t count = 1; count > 0;) {
      ABSL_ASSIGN_OR_RETURN(count, Read(rest));
    }
    return zeros_at_end_ >= kTarEndBytes;
  }

 private:
  const std::unique_ptr<ByteSource> tar_;
  std::uint64_t zeros_at_end_ = 0;
};

// Read by the list of members at its end, which alone says which members are links.
class ArchiveReader::ZipInput final : public ArchiveReader::Input {
 public:
  explicit ZipInput(std::shared_ptr<DiskFile> zip) : zip_(std::move(zip)) {}

  const std::string& path() const override { return zip_->path(); }
  int Support(archive* reader) const override { return archive_read_support_format_zip_seekable(reader); }

  absl::StatusOr<std::size_t> Read(std::span<char> out) override {
    ABSL_ASSIGN_OR_RETURN(const std::size_t count, zip_->ReadAt(offset_, out));
    offset_ += count;
    return count;
  }

  std::string_view WhyUnknown() const override {
    return "the file is cut off, or is no zip archive: it does not end with a list of members";
  }

  absl::StatusOr<bool> EndsWell() override { return true; }

  absl::StatusOr<bool> MayHaveMembers() override {
    constexpr std::string_view kListEnd = "PK\x05\x06";
    std::array<char, kListEnd.size()> head = {};
    ABSL_ASSIGN_OR_RETURN(const std::size_t count, zip_->ReadAt(0, head));
    return std::string_view(head.data(), count) != kListEnd;
  }

  bool can_seek() const override { return true; }

  std::int64_t Seek(std::int64_t offset, int whence) override {
    if (whence == SEEK_CUR) offset += static_cast<std::int64_t>(offset_);
    if (whence == SEEK_END) offset += static_cast<std::int64_t>(zip_->size());
    if (offset < 0) return ARCHIVE_FATAL;
    offset_ = static_cast<std::uint64_t>(offset);
    return offset;
  }

 private:
  const std::shared_ptr<DiskFile> zip_;
  std::uint64_t offset_ = 0;
};

struct ArchiveReader::Impl {
  std::unique_ptr<Input> input;
  std::vector<std::string_view> extensions;
  ReadLimits limits;
  std::shared_ptr<UnpackBudget> budget;
  std::vector<char> input_buffer;
  absl::Status input_status;

  std::unique_ptr<archive, FreeArchive> reader;  // null before the first call
  archive_entry* entry = nullptr;                // of `reader`
  std::string name;                              // of the member; empty: none that can be told
  std::string member_path;
  std::uint64_t entries = 0;  // of any kind
  std::uint64_t members = 0;  // with the right ending
  bool ended = false;
  PassedOver passed_over;
};

la_ssize_t ArchiveReader::Input::OnRead(archive* reader, void* impl, const void** bytes) {
  Impl& of = *static_cast<Impl*>(impl);
  const absl::StatusOr<std::size_t> count = of.input->Read(of.input_buffer);
  *bytes = of.input_buffer.data();
  if (count.ok()) return static_cast<la_ssize_t>(*count);
  of.input_status = count.status();
  archive_set_error(reader, EIO, "cannot be read");
  return ARCHIVE_FATAL;
}

la_int64_t ArchiveReader::Input::OnSeek(archive* /*reader*/, void* impl, la_int64_t offset, int whence) {
  return static_cast<Impl*>(impl)->input->Seek(offset, whence);
}

// Bytes of the member that the archive stands at.
class ArchiveReader::Member final : public PackedBytes {
 public:
  Member(std::string path, ArchiveReader& owner)
      : PackedBytes(std::move(path)), owner_(owner), number_(owner.impl_->entries), buffer_(kBufferBytes) {}

 private:
  absl::Status Read(std::span<const char>* bytes) override {
    Impl& impl = *owner_.impl_;
    if (impl.entries != number_) return absl::InternalError("a member is read behind its turn");
    const la_ssize_t count = archive_read_data(impl.reader.get(), buffer_.data(), buffer_.size());
    if (count < 0) {
      impl.ended = count == ARCHIVE_FATAL;
      return owner_.Failed();
    }
    *bytes = {buffer_.data(), static_cast<std::size_t>(count)};
    return absl::OkStatus();
  }

  ArchiveReader& owner_;
  const std::uint64_t number_;
  std::vector<char> buffer_;
};

std::unique_ptr<ArchiveReader> ArchiveReader::OfTar(std::unique_ptr<ByteSource> tar,
                                                    std::span<const std::string_view> extensions,
                                                    const ReadLimits& limits) {
  return std::unique_ptr<ArchiveReader>(
      new ArchiveReader(std::make_unique<TarInput>(std::move(tar)), extensions, limits));
}

std::unique_ptr<ArchiveReader> ArchiveReader::OfZip(std::shared_ptr<DiskFile> zip,
                                                    std::span<const std::string_view> extensions,
                                                    const ReadLimits& limits) {
  return std::unique_ptr<ArchiveReader>(
      new ArchiveReader(std::make_unique<ZipInput>(std::move(zip)), extensions, limits));
}

ArchiveReader::ArchiveReader(std::unique_ptr<Input> input, std::span<const std::string_view> extensions,
                             const ReadLimits& limits)
    : impl_(std::make_unique<Impl>()) {
  impl_->member_path = impl_->passed_over.path = input->path();
  impl_->input = std::move(input);
  impl_->extensions.assign(extensions.begin(), extensions.end());
  impl_->limits = limits;
  impl_->budget = std::make_shared<UnpackBudget>(limits.max_unpacked_bytes);
  impl_->input_buffer.resize(kBufferBytes);
}

ArchiveReader::~ArchiveReader() = default;

const std::string& ArchiveReader::member_path() const { return impl_->member_path; }
const PassedOver& ArchiveReader::passed_over() const { return impl_->passed_over; }
const std::shared_ptr<UnpackBudget>& ArchiveReader::budget() const { return impl_->budget; }

absl::Status ArchiveReader::Open() {
  impl_->reader.reset(archive_read_new());
  archive* const reader = impl_->reader.get();
  if (impl_->input->Support(reader) != ARCHIVE_OK) return Failed();
  if (impl_->input->can_seek()) archive_read_set_seek_callback(reader, Input::OnSeek);
  if (archive_read_open2(reader, impl_.get(), nullptr, Input::OnRead, nullptr, nullptr) != ARCHIVE_OK) {
    return Failed();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<PackedBytes>> ArchiveReader::Next() {
  if (impl_->ended || impl_->budget->is_exceeded()) return nullptr;
  if (impl_->reader == nullptr) {
    ABSL_ASSIGN_OR_RETURN(const bool may_have_members, impl_->input->MayHaveMembers());
    impl_->ended = !may_have_members;
    if (impl_->ended) return CheckEnd();
    if (absl::Status status = Open(); !status.ok()) return EndWith(std::move(status));
  }
  while (true) {
    const absl::StatusOr<bool> more = NextHeader();
    if (!more.ok()) return EndWith(more.status());
    if (!*more) {
      impl_->ended = true;
      ABSL_RETURN_IF_ERROR(CheckEnd());
      return nullptr;
    }
    if (archive_entry_filetype(impl_->entry) == AE_IFDIR) continue;
    if (!impl_->name.empty() && !IsUnsafe(impl_->name) && !HasExtension(impl_->name, impl_->extensions)) {
      impl_->passed_over.Add(impl_->name);
      continue;
    }
    ++impl_->members;
    ABSL_RETURN_IF_ERROR(CheckMember());
    return std::make_shared<Member>(impl_->member_path, *this);
  }
}

absl::StatusOr<bool> ArchiveReader::NextHeader() {
  const Utf8Locale locale;
  const int result = archive_read_next_header(impl_->reader.get(), &impl_->entry);
  impl_->member_path = impl_->input->path();
  if (result == ARCHIVE_EOF) return false;
  if (result < ARCHIVE_WARN) return Failed();
  if (++impl_->entries > impl_->limits.max_members) {
    return RefusedWhole(
        member_path(), "too_many_members",
        absl::StrCat("the archive has more than ", impl_->limits.max_members, " members (--max-members)"));
  }
  const char* const name = archive_entry_pathname(impl_->entry);
  impl_->name = name != nullptr && IsUtf8(name) ? WithoutDotSlash(name) : "";
  impl_->member_path = absl::StrCat(
      impl_->input->path(), "/", impl_->name.empty() ? absl::StrCat("member ", impl_->entries) : impl_->name);
  return true;
}

absl::Status ArchiveReader::CheckMember() const {
  if (impl_->name.empty())
    return RefusedWhole(member_path(), "member_name", "the member's name is empty or not UTF-8");
  if (IsUnsafe(impl_->name))
    return RefusedWhole(member_path(), "unsafe_name", "the member's name leads out of the archive");
  if (archive_entry_filetype(impl_->entry) != AE_IFREG || archive_entry_hardlink(impl_->entry) != nullptr) {
    return RefusedWhole(member_path(), "archive_link",
                        "the member is a link or a device; only plain files are read");
  }
  if (archive_entry_is_data_encrypted(impl_->entry) != 0) {
    return RefusedWhole(member_path(), "encrypted_archive", "the member is encrypted");
  }
  return absl::OkStatus();
}

absl::Status ArchiveReader::CheckEnd() {
  const absl::StatusOr<bool> ends_well = impl_->input->EndsWell();
  if (!ends_well.ok()) return EndWith(ends_well.status());
  if (!*ends_well) {
    return EndWith(
        RefusedWhole(member_path(), "truncated_archive", "the archive ends too early; is the file complete?"));
  }
  if (impl_->entries == 0) return RefusedWhole(member_path(), "empty_archive", "the archive has no member");
  if (impl_->members == 0) {
    return RefusedWhole(
        member_path(), "no_members",
        absl::StrCat("the archive holds no ", NamesOf(impl_->extensions), " file, but ",
                     impl_->passed_over.count, impl_->passed_over.count == 1 ? " other" : " others"));
  }
  return absl::OkStatus();
}

absl::Status ArchiveReader::Failed() const {
  ABSL_RETURN_IF_ERROR(impl_->input_status);
  const char* const text = archive_error_string(impl_->reader.get());
  const std::string what = text == nullptr ? "it is no archive" : text;
  if (what.find(kUnknownFormat) != std::string::npos) {
    return RefusedWhole(member_path(), "truncated_archive", impl_->input->WhyUnknown());
  }
  const bool cut = what.find("runcated") != std::string::npos;
  return RefusedWhole(member_path(), cut ? "truncated_archive" : "corrupt_archive",
                      absl::StrCat("the archive is ", cut ? "cut off" : "corrupt", ": ", what));
}

// An archive of which a member was read before is not refused as a whole: the refusal leaves the rest.
absl::Status ArchiveReader::EndWith(absl::Status status) {
  impl_->ended = true;
  return impl_->entries > 0 ? LeavingRest(std::move(status)) : status;
}

absl::StatusOr<FileOrArchive> OpenFileOrArchive(std::shared_ptr<DiskFile> file,
                                                std::span<const std::string_view> extensions,
                                                const ReadLimits& limits) {
  const std::string_view packed(file->available().data(), file->available().size());
  if (IsZip(packed) && !file->is_regular()) {
    return RefusedWhole(file->path(), "zip_from_pipe",
                        "a zip archive is read by the list at its end, which a pipe does not allow");
  }
  if (IsZip(packed)) return FileOrArchive{nullptr, ArchiveReader::OfZip(std::move(file), extensions, limits)};
  const std::string path = file->path();
  auto bytes =
      std::make_unique<ByteSource>(std::move(file), std::make_shared<UnpackBudget>(limits.max_unpacked_bytes));
  const bool is_tar = bytes->content() == ByteSource::Content::kTar ||
                      (bytes->content() == ByteSource::Content::kData && IsNamedTar(path));
  if (!is_tar) return FileOrArchive{std::move(bytes), nullptr};
  return FileOrArchive{nullptr, ArchiveReader::OfTar(std::move(bytes), extensions, limits)};
}

}  // namespace packtrain::ingest
