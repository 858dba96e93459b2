#include "client/ingest/line_reader.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::Refused;

absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& path, const ReadLimits& limits = {}) {
  auto reader = LineReader::Open(path, limits).value();
  std::vector<std::string> lines;
  while (true) {
    std::string_view line;
    absl::StatusOr<bool> more = reader->Next(&line);
    if (!more.ok()) return more.status();
    if (!*more) return lines;
    lines.emplace_back(line);
    EXPECT_EQ(reader->line_number(), lines.size());
  }
}

class LineReaderTest : public ::testing::Test {
 protected:
  testing::TempFolder folder_;
};

TEST_F(LineReaderTest, EndsOfLinesAreCutOff) {
  EXPECT_THAT(ReadLines(folder_.Write("a", "one\r\ntwo\n\nfour")).value(),
              ElementsAre("one", "two", "", "four"));
}

TEST_F(LineReaderTest, CarriageReturnAloneEndsALine) {
  EXPECT_THAT(ReadLines(folder_.Write("a", "one\rtwo\r\rfour\r")).value(),
              ElementsAre("one", "two", "", "four"));
  EXPECT_THAT(ReadLines(folder_.Write("a", "one\r\n\rthree\nfour\r\r\nsix")).value(),
              ElementsAre("one", "", "three", "four", "", "six"));
}

// A buffer holds 256 KiB at first, so that some pair of the two is parted by its end.
TEST_F(LineReaderTest, EndsOfLinesMayBePartedByTheEndOfABuffer) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      const std::string first(shift, 'x'), line(30, 'y');
      std::string text = first + end;
      for (int k = 0; k < 20'000; ++k) text += line + end;
      std::vector<std::string> lines(20'001, line);
      lines[0] = first;
      EXPECT_EQ(ReadLines(folder_.Write("a", text)).value(), lines) << shift;
    }
  }
}

TEST_F(LineReaderTest, LineWithANulByteIsRefused) {
  using namespace std::string_literals;
  EXPECT_THAT(ReadLines(folder_.Write("a", "one\ntw\0o\nthree\n"s)),
              Refused("nul_byte", "a:2: the line holds"));
  EXPECT_THAT(ReadLines(folder_.Write("a", "one\ntwo\n\0"s)), Refused("nul_byte", "a:3: the line holds"));
}

TEST_F(LineReaderTest, ByteOrderMarkIsCutOff) {
  EXPECT_THAT(ReadLines(folder_.Write("a",
                                      "\xef\xbb\xbf"
                                      "3\n\xef\xbb\xbf"))
                  .value(),
              ElementsAre("3", "\xef\xbb\xbf"));
}

TEST_F(LineReaderTest, LinesSpanBuffers) {
  std::string text;
  std::vector<std::string> lines;
  for (std::size_t length = 0; length < 2000; ++length) {
    lines.emplace_back(length, static_cast<char>('a' + length % 26));
    text += lines.back() + '\n';
  }
  EXPECT_EQ(ReadLines(folder_.Write("a", text)).value(), lines);
}

TEST_F(LineReaderTest, LongestLineIsTheLimit) {
  ReadLimits limits;
  limits.max_line_bytes = 900'000;
  const std::string line(limits.max_line_bytes, 'x');
  EXPECT_THAT(ReadLines(folder_.Write("a", "short\n" + line + "\n"), limits).value(),
              ElementsAre("short", line));
  EXPECT_THAT(ReadLines(folder_.Write("a", "short\n" + line + "x\n"), limits),
              Refused("line_too_long", ":2: the line is longer than"));
}

TEST_F(LineReaderTest, LineWithoutEndIsRefusedBeforeItIsRead) {
  EXPECT_THAT(ReadLines(folder_.Write("a", std::string(10 << 20, 'x'))),
              Refused("line_too_long", "--max-line-bytes"));
}

TEST_F(LineReaderTest, UnreadLineComesAgain) {
  auto reader = LineReader::Open(folder_.Write("a", "one\ntwo\n"), {}).value();
  std::string_view line;
  ASSERT_TRUE(reader->Next(&line).value());
  reader->Unread();
  EXPECT_EQ(reader->line_number(), 0u);
  ASSERT_TRUE(reader->Next(&line).value());
  EXPECT_EQ(line, "one");
  EXPECT_EQ(reader->line_number(), 1u);
  ASSERT_TRUE(reader->Next(&line).value());
  EXPECT_EQ(line, "two");
}

}  // namespace
}  // namespace packtrain::ingest
