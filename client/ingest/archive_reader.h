// Members of a tar or zip archive, one after the other, as the archive has them.
#ifndef PACKTRAIN_CLIENT_INGEST_ARCHIVE_READER_H_
#define PACKTRAIN_CLIENT_INGEST_ARCHIVE_READER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"
#include "client/ingest/disk_file.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/packed_bytes.h"
#include "client/ingest/source_files.h"

namespace packtrain::ingest {

// Nothing is written to disk, and nothing is read twice. Used by one thread at a time.
class ArchiveReader {
 public:
  // Gives the members that have one of `extensions` (HasExtension). Nothing of `tar` was read.
  static std::unique_ptr<ArchiveReader> OfTar(std::unique_ptr<ByteSource> tar,
                                              std::span<const std::string_view> extensions,
                                              const ReadLimits& limits);
  // `zip` is a regular file.
  static std::unique_ptr<ArchiveReader> OfZip(std::shared_ptr<DiskFile> zip,
                                              std::span<const std::string_view> extensions,
                                              const ReadLimits& limits);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // The next member, whose path is ARCHIVE/NAME; null behind the last. It can be read until the next call.
  // Refusals of a member, behind which the next call goes on: "unsafe_name" (absolute, or with ".."),
  // "archive_link" (links and devices), "member_name" (no UTF-8), "encrypted_archive". Refusals of the archive,
  // behind which there is nothing: "truncated_archive", "corrupt_archive", "too_many_members", and those of
  // ByteSource::Read, which leave the rest where a member was met before; "empty_archive", "no_members" (none
  // with such an ending).
  absl::StatusOr<std::shared_ptr<PackedBytes>> Next();

  // Of the member that Next gave or refused last; the archive's own, where that was refused.
  const std::string& member_path() const;

  // What may still be unpacked, to be spent by whoever reads members. Next gives none once it is exceeded.
  const std::shared_ptr<UnpackBudget>& budget() const;

  // Members that are none of `extensions`, until now.
  const PassedOver& passed_over() const;

 private:
  class Input;
  class TarInput;
  class ZipInput;
  class Member;
  struct Impl;

  ArchiveReader(std::unique_ptr<Input> input, std::span<const std::string_view> extensions,
                const ReadLimits& limits);

  absl::Status Open();
  // Reads the name of the next member; false behind the last.
  absl::StatusOr<bool> NextHeader();
  absl::Status CheckEnd();
  absl::Status CheckMember() const;
  absl::Status Failed() const;
  absl::Status EndWith(absl::Status status);

  const std::unique_ptr<Impl> impl_;
};

// Exactly one of the two.
struct FileOrArchive {
  std::unique_ptr<ByteSource> file;
  std::unique_ptr<ArchiveReader> archive;
};

// Opens a file, of which nothing was read, by what it holds: an archive is known by its first bytes, and a tar
// also by its name. The refusal "zip_from_pipe": a zip archive that is no regular file.
absl::StatusOr<FileOrArchive> OpenFileOrArchive(std::shared_ptr<DiskFile> file,
                                                std::span<const std::string_view> extensions,
                                                const ReadLimits& limits);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_ARCHIVE_READER_H_
