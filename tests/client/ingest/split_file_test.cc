#include "client/ingest/split_file.h"

#include <gmock/gmock.h>

#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::Refused;

class SplitFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<SplitLists> Read(std::string_view text) {
    return ReadSplitFile(folder_.Write("split.txt", text), {});
  }

  testing::TempFolder folder_;
};

TEST_F(SplitFileTest, IdsAreListedBySplit) {
  const SplitLists lists = Read("# ids\ntrain a\nval  b c \r\n\ntest\td\ntrain e\n").value();
  EXPECT_THAT(lists.train, ElementsAre("a", "e"));
  EXPECT_THAT(lists.val, ElementsAre("b c"));
  EXPECT_THAT(lists.test, ElementsAre("d"));
}

TEST_F(SplitFileTest, GzipIsRead) { EXPECT_THAT(Read(testing::Gzip("val x\n")).value().val, ElementsAre("x")); }

TEST_F(SplitFileTest, BadLinesAreRefused) {
  EXPECT_THAT(Read("train a\nvalid b\n"), Refused("bad_split", "split.txt:2"));
  EXPECT_THAT(Read("train\n"), Refused("bad_split", "split.txt:1"));
  EXPECT_THAT(Read("train a\nval b\ntest a\n"),
              Refused("duplicate_id", "split.txt:3: 'a' was listed before, in line 1"));
  EXPECT_THAT(Read("# nothing\n"), Refused("empty_file", "split.txt"));
}

}  // namespace
}  // namespace packtrain::ingest
