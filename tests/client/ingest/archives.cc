#include "tests/client/ingest/archives.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <lzma.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace packtrain::testing {
namespace {

constexpr std::size_t kBlock = 512;

// A header of the POSIX ustar form.
std::string TarHeader(const ArchiveMember& member) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  std::array<char, 16> size;
  std::snprintf(size.data(), size.size(), "%011zo", member.content.size());
  put(0, member.name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, size.data());
  put(136, "00000000000");
  put(148, "        ");
  put(156, member.link_to.empty() ? "0" : "2");
  put(157, member.link_to);
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(size.data(), size.size(), "%06o", sum);
  put(148, size.data());
  return header;
}

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

void AddTo(archive* writer, const ArchiveMember& member) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), member.name.c_str());
  archive_entry_set_filetype(entry.get(), member.link_to.empty() ? AE_IFREG : AE_IFLNK);
  if (!member.link_to.empty()) archive_entry_set_symlink(entry.get(), member.link_to.c_str());
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
  archive_write_header(writer, entry.get());
  archive_write_data(writer, member.content.data(), member.content.size());
}

}  // namespace

std::string Xz(std::string_view text, std::uint32_t dictionary_bytes) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 0);
  options.dict_size = dictionary_bytes;
  std::array<lzma_filter, 2> filters = {lzma_filter{LZMA_FILTER_LZMA2, &options},
                                        lzma_filter{LZMA_VLI_UNKNOWN, nullptr}};
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  if (lzma_stream_buffer_encode(
          filters.data(), LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
          text.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()) != LZMA_OK) {
    std::abort();
  }
  packed.resize(size);
  return packed;
}

std::string UnendedTar(const std::vector<ArchiveMember>& members) {
  std::string tar;
  for (const ArchiveMember& member : members) {
    tar += TarHeader(member) + member.content;
    tar.resize((tar.size() + kBlock - 1) / kBlock * kBlock);
  }
  return tar;
}

std::string Tar(const std::vector<ArchiveMember>& members) {
  return UnendedTar(members) + std::string(2 * kBlock, '\0');
}

std::string Zip(const std::vector<ArchiveMember>& members) {
  std::size_t size = 1 << 16;
  for (const ArchiveMember& member : members) size += member.content.size() + 2 * member.name.size() + 1024;
  std::string zip(size, '\0');
  const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = uselocale(utf8);
  std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
  archive_write_set_format_zip(writer.get());
  archive_write_open_memory(writer.get(), zip.data(), zip.size(), &size);
  for (const ArchiveMember& member : members) AddTo(writer.get(), member);
  archive_write_close(writer.get());
  uselocale(before);
  freelocale(utf8);
  zip.resize(size);
  return zip;
}

}  // namespace packtrain::testing
