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

TEST(OriginTest, RefusalIsToldWithItsPlaceAndTheIdOfTheGraph) {
  const absl::Status refusal =
      RefusedAt({"a.xyz", "frame", 2, 9}, Refusal("no_nodes", "the frame has no atoms"));
  EXPECT_EQ(refusal.message(), "the frame has no atoms");
  EXPECT_THAT(WithPlace(refusal, "m-2"), Refused("no_nodes", "a.xyz:9: frame 2 (m-2): the frame has no"));
  EXPECT_THAT(WithPlace(refusal, ""), Refused("no_nodes", "a.xyz:9: frame 2: the frame has no"));
}

TEST(OriginTest, FirstPlaceOfARefusalStays) {
  const absl::Status refusal = RefusedAt({"a.xyz", "frame", 2, 9}, Refusal("no_nodes", "no atoms"));
  EXPECT_THAT(RefusedAt({"a.xyz", "frame", 2, 7}, refusal), Refused("no_nodes", "a.xyz:9: frame 2: no atoms"));
  const absl::Status told = WithPlace(refusal, "m");
  EXPECT_EQ(WithPlace(told, "other"), told);
}

TEST(OriginTest, PeopleAreToldWhatIsKnown) {
  EXPECT_EQ(PlaceText({"a.xyz", "frame", 2, 9}), "a.xyz:9: frame 2");
  EXPECT_EQ(PlaceText({"a.packtrain", "graph", 2, 0}), "a.packtrain: graph 2");
  EXPECT_EQ(PlaceText({"a.csv", "", 0, 9}), "a.csv:9");
  EXPECT_EQ(PlaceText({"a.csv", "", 0, 0}), "a.csv");
}

TEST(OriginTest, PlaceWithoutARecordIsThatOfTheRecordBeingRead) {
  const Origin record = {"folder/nodes.csv", "graph", 3, 9};
  const absl::Status refusal = RefusedAt({"folder/labels.csv", "", 0, 4}, Refusal("bad_target", "no number"));
  EXPECT_EQ(PlaceOf(refusal, record), (Origin{"folder/labels.csv", "graph", 3, 4}));
  EXPECT_EQ(WithPlace(refusal, record, "g").message(), "folder/labels.csv:4: graph 3 (g): no number");
  EXPECT_EQ(PlaceOf(RefusedAt({"", "", 0, 4}, Refusal("bad_target", "no number")), record),
            (Origin{"folder/nodes.csv", "graph", 3, 4}));
  EXPECT_EQ(PlaceOf(Refusal("no_id", "nothing"), record), record);
}

TEST(OriginTest, WholeFileHasNoRecord) {
  const Origin record = {"a.xyz", "frame", 1, 0};
  const absl::Status refusal = RefusedAt(WholeFile("a: b.xyz"), Refusal("empty_file", "nothing"));
  EXPECT_EQ(PlaceOf(refusal, record), WholeFile("a: b.xyz"));
  EXPECT_EQ(WithPlace(refusal, record, "a").message(), "a: b.xyz: nothing");
  const absl::Status at_line = RefusedElsewhere({"a.xyz", "", 0, 3}, refusal);
  EXPECT_EQ(WithPlace(at_line, record, "a").message(), "a.xyz:3: frame 1 (a): nothing");
}

TEST(OriginTest, RefusalThatLeavesTheRestSaysSoOnce) {
  const absl::Status refusal = LeavingRest(LeavingRest(Refusal("nul_byte", "the line holds a NUL byte")));
  EXPECT_EQ(refusal.message(), "the line holds a NUL byte; nothing is read from there on");
  EXPECT_TRUE(LeavesRest(WithPlace(RefusedAt({"a", "line", 3, 3}, refusal), "")));
  EXPECT_EQ(ReasonOf(refusal), "nul_byte");
  EXPECT_FALSE(LeavesRest(LeavingRest(absl::UnavailableError("gone"))));
}

TEST(OriginTest, OnlyRefusalsHaveAPlace) {
  const Origin place = {"a.xyz", "frame", 2, 9};
  EXPECT_TRUE(RefusedAt(place, absl::OkStatus()).ok());
  EXPECT_EQ(RefusedAt(place, absl::UnavailableError("gone")), absl::UnavailableError("gone"));
  const absl::Status unplaced = Refusal("too_many_targets", "2,000 targets");
  EXPECT_EQ(WithPlace(unplaced, "a"), unplaced);
}

}  // namespace
}  // namespace packtrain::ingest
