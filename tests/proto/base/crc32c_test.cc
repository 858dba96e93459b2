#include "proto/base/crc32c.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string_view>
#include <vector>

namespace packtrain::base {
namespace {

std::uint32_t CrcOf(std::string_view text) { return Crc32c(std::as_bytes(std::span(text))); }

std::uint32_t CrcOf(const std::vector<unsigned char>& bytes) { return Crc32c(std::as_bytes(std::span(bytes))); }

TEST(Crc32c, HasTheCheckValueOfTheCatalogue) {
  EXPECT_EQ(CrcOf("123456789"), 0xE3069283u);
  EXPECT_EQ(CrcOf(""), 0u);
}

TEST(Crc32c, EqualsTheVectorsOfRfc3720) {
  std::vector<unsigned char> ascending(32);
  std::iota(ascending.begin(), ascending.end(), 0);
  const std::vector<unsigned char> descending(ascending.rbegin(), ascending.rend());
  EXPECT_EQ(CrcOf(std::vector<unsigned char>(32, 0x00)), 0x8A9136AAu);
  EXPECT_EQ(CrcOf(std::vector<unsigned char>(32, 0xff)), 0x62A8AB43u);
  EXPECT_EQ(CrcOf(ascending), 0x46DD794Eu);
  EXPECT_EQ(CrcOf(descending), 0x113FDB5Cu);
}

TEST(Crc32c, ContinuesAtAnyCut) {
  constexpr std::string_view text = "123456789";
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(bytes.first(cut)), bytes.subspan(cut)), 0xE3069283u) << cut;
  }
}

}  // namespace
}  // namespace packtrain::base
