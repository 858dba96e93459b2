// Packs text and files for tests.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_ARCHIVES_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_ARCHIVES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace packtrain::testing {

// One xz stream; the dictionary decides how much memory its reader needs.
std::string Xz(std::string_view text, std::uint32_t dictionary_bytes = 1 << 20);

struct ArchiveMember {
  std::string name;
  std::string content;
  std::string link_to = {};  // not empty: a symbolic link
};

// A tar archive without the blocks that end it.
std::string UnendedTar(const std::vector<ArchiveMember>& members);
std::string Tar(const std::vector<ArchiveMember>& members);
// Names are UTF-8.
std::string Zip(const std::vector<ArchiveMember>& members);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_ARCHIVES_H_
