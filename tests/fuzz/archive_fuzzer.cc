// An archive of any bytes gives the same members however its file is opened, within the limits, or a refusal.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/ingest/archive_reader.h"
#include "client/ingest/refusal.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/memory_file.h"

namespace {

using packtrain::fuzz::Expect;
namespace ingest = packtrain::ingest;

constexpr std::array<std::string_view, 2> kExtensions = {".xyz", ".txt"};
constexpr std::uint64_t kMaxUnpackedBytes = 1 << 17;
constexpr std::uint64_t kMaxMembers = 100;

// The bytes of a member, unpacked; those before a failure where there is one.
std::string ReadMember(const std::shared_ptr<ingest::PackedBytes>& member,
                       const ingest::ArchiveReader& archive) {
  if (!member->Fill().ok()) return "";
  ingest::ByteSource source(member, archive.budget());
  std::string bytes;
  std::vector<char> buffer(1000);
  while (true) {
    const absl::StatusOr<std::size_t> count = source.Read(buffer);
    if (!count.ok() || *count == 0) return bytes;
    bytes.append(buffer.data(), *count);
  }
}

void CheckName(const ingest::ArchiveReader& archive, const std::string& path) {
  const std::string name = archive.member_path().substr(path.size());
  Expect(name.starts_with('/') && !name.starts_with("//"), "a member lies in its archive");
  Expect(name.find("/../") == std::string::npos, "a member lies below its archive");
}

// Names and contents.
std::vector<std::string> ReadMembers(const std::string& path) {
  const ingest::ReadLimits limits = {.max_unpacked_bytes = kMaxUnpackedBytes, .max_members = kMaxMembers};
  auto opened = ingest::OpenFileOrArchive(ingest::DiskFile::Open(path).value(), kExtensions, limits);
  Expect(opened.ok(), "a file that is there opens");
  std::vector<std::string> members;
  std::uint64_t bytes = 0;
  for (std::uint64_t calls = 0; opened->archive != nullptr; ++calls) {
    Expect(calls <= kMaxMembers + 1, "an archive ends");
    const absl::StatusOr<std::shared_ptr<ingest::PackedBytes>> member = opened->archive->Next();
    if (!member.ok()) {
      Expect(ingest::IsRefusal(member.status()), "what cannot be read is refused");
      continue;
    }
    if (*member == nullptr) break;
    CheckName(*opened->archive, path);
    members.push_back(opened->archive->member_path());
    members.push_back(ReadMember(*member, *opened->archive));
    bytes += members.back().size();
  }
  Expect(bytes <= kMaxUnpackedBytes, "no more is unpacked than the limit says");
  return members;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const packtrain::fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  Expect(ReadMembers(file.path()) == ReadMembers(file.path()), "an archive gives the same members again");
  return 0;
}
