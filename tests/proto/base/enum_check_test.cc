#include "proto/base/enum_check.h"

#include <gmock/gmock.h>

#include "packtrain/v1/dataset.pb.h"
#include "packtrain/v1/run.pb.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::base {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

TEST(CheckEnums, TakesKnownValuesAndUnspecifiedOnes) {
  v1::ImportHeader header;
  EXPECT_THAT(CheckEnums("header", header), IsOk());
  header.set_on_error(v1::ERROR_POLICY_SKIP);
  header.mutable_schema()->add_fields()->set_data_type(v1::DATA_TYPE_F32);
  EXPECT_THAT(CheckEnums("header", header), IsOk());
}

TEST(CheckEnums, NamesFieldAndValue) {
  v1::ImportHeader header;
  header.set_on_error(static_cast<v1::ErrorPolicy>(7));
  EXPECT_THAT(CheckEnums("header", header),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header.on_error = 7 is not known")));
}

TEST(CheckEnums, LooksIntoRepeatedMessagesAndMaps) {
  v1::ImportHeader header;
  header.mutable_schema()->add_fields();
  header.mutable_schema()->add_fields()->set_scope(static_cast<v1::FieldScope>(-1));
  EXPECT_THAT(CheckEnums("header", header),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header.schema.fields.scope = -1")));
  v1::RunDescription description;
  (*description.mutable_labels())["note"] = "a long night";
  EXPECT_THAT(CheckEnums("description", description), IsOk());
}

}  // namespace
}  // namespace packtrain::base
