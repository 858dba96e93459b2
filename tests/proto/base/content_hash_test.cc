#include "proto/base/content_hash.h"

#include <gtest/gtest.h>

namespace packtrain::base {
namespace {

TEST(Sha256, EqualsThePublishedVectors) {
  // FIPS 180-2, appendix B.
  EXPECT_EQ(HexSha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexSha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, DoesNotDependOnHowTheBytesWereCut) {
  Sha256 hash;
  hash.Update("a");
  hash.Update("");
  hash.Update("bc");
  EXPECT_EQ(hash.HexDigest(), HexSha256("abc"));
}

TEST(Sha256, SizedPiecesAreNotConfusedWithTheirNeighbours) {
  Sha256 one;
  one.UpdateSized("ab");
  one.UpdateSized("c");
  Sha256 other;
  other.UpdateSized("a");
  other.UpdateSized("bc");
  EXPECT_NE(one.HexDigest(), other.HexDigest());
}

TEST(PlanFingerprint, ChangesWithEachArgument) {
  const std::string fingerprint = PlanFingerprint("v", "train", "spec");
  EXPECT_EQ(fingerprint.size(), 32u);
  EXPECT_EQ(fingerprint, PlanFingerprint("v", "train", "spec"));
  EXPECT_NE(fingerprint, PlanFingerprint("w", "train", "spec"));
  EXPECT_NE(fingerprint, PlanFingerprint("v", "val", "spec"));
  EXPECT_NE(fingerprint, PlanFingerprint("v", "train", "spec2"));
  EXPECT_NE(PlanFingerprint("ab", "c", ""), PlanFingerprint("a", "bc", ""));
}

}  // namespace
}  // namespace packtrain::base
