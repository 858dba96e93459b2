#include "client/ingest/origin.h"

#include <gmock/gmock.h>

#include "client/ingest/refusal.h"
#include "tests/client/ingest/refused.h"

namespace packtrain::ingest {
namespace {

using testing::Refused;

TEST(OriginTest, OriginsComeBackFromText) {
  for (const Origin& origin :
       {Origin{"a.xyz", "frame", 17, 203}, Origin{"C: odd: frame 3:4.xyz", "frame", 1, 1},
        Origin{"a b.sdf", "molecule", 2, 9}, Origin{"only a file", "frame", 0, 0}}) {
    EXPECT_EQ(ParseOrigin(FormatOrigin(origin)), origin);
  }
}

TEST(OriginTest, OtherTextIsAFile) {
  for (const char* text :
       {"", "file", "file:x: frame 3", "file:3: frame x", ": frame 2", "file:3: two words 2", "file:3: 2"}) {
    EXPECT_EQ(ParseOrigin(text), (Origin{text, "", 0, 0}));
  }
}

TEST(OriginTest, RefusalIsToldWithItsPlace) {
  const Origin origin = {"a.xyz", "frame", 2, 9};
  const absl::Status refusal = Refusal("no_nodes", "the frame has no atoms");
  EXPECT_THAT(RefusedAt(origin, "m-2", refusal),
              Refused("no_nodes", "a.xyz:9: frame 2 (m-2): the frame has no"));
  EXPECT_THAT(RefusedAt(origin, "", refusal), Refused("no_nodes", "a.xyz:9: frame 2: the frame has no"));
}

}  // namespace
}  // namespace packtrain::ingest
