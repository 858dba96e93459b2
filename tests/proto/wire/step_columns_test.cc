#include "proto/wire/step_columns.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "packtrain/v1/run.pb.h"

namespace packtrain::wire {
namespace {

using google::protobuf::FieldDescriptor;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

template <typename T>
constexpr FieldDescriptor::Type kTypeOf = std::is_same_v<T, double>          ? FieldDescriptor::TYPE_DOUBLE
                                          : std::is_same_v<T, std::uint32_t> ? FieldDescriptor::TYPE_UINT32
                                                                             : FieldDescriptor::TYPE_UINT64;

TEST(StepColumns, AreTheFieldsOfAStepBlockInTheirOrderAndOfTheirTypes) {
  const google::protobuf::Descriptor& fields = *v1::StepBlock::descriptor();
  ASSERT_EQ(static_cast<int>(kStepColumnCount), fields.field_count());
  int k = 0;
  ForEachStepColumn([&](const auto& column) {
    const FieldDescriptor& field = *fields.field(k++);
    EXPECT_EQ(field.name(), column.name);
    EXPECT_TRUE(field.is_repeated()) << column.name;
    EXPECT_EQ(field.type(), kTypeOf<typename std::remove_cvref_t<decltype(column)>::Value>) << column.name;
  });
}

TEST(StepColumns, AreMembersOfTheirOwn) {
  StepRecord record;
  ForEachStepColumn([&, value = 1](const auto& column) mutable {
    column.Of(record) = static_cast<std::remove_cvref_t<decltype(column.Of(record))>>(value++);
  });
  EXPECT_EQ(record.step, 1u);
  EXPECT_EQ(record.real.nodes, 5u);
  EXPECT_EQ(record.padded.edges, 9u);
  EXPECT_EQ(record.wait_ns, 10u);
  EXPECT_EQ(record.loss, 21.0);
  std::set<double> values;
  ForEachStepColumn([&](const auto& column) { values.insert(static_cast<double>(column.Of(record))); });
  EXPECT_EQ(values.size(), kStepColumnCount);
}

TEST(StepColumns, TimesAreNamedByTheirUnit) {
  ForEachStepColumn([](const auto& column) {
    EXPECT_EQ(column.unit == StepUnit::kNanoseconds, column.name.ends_with("_ns")) << column.name;
    EXPECT_TRUE(column.phase_of == PhaseOf::kNobody || column.unit == StepUnit::kNanoseconds) << column.name;
  });
}

TEST(StepColumns, PhasesAreTheFieldsOfPhaseTimes) {
  std::vector<std::string> phases, fields;
  for (const StepPhase& phase : kStepPhases) phases.emplace_back(phase.name);
  for (int k = 0; k < v1::PhaseTimes::descriptor()->field_count(); ++k) {
    fields.push_back(v1::PhaseTimes::descriptor()->field(k)->name());
  }
  EXPECT_THAT(phases, UnorderedElementsAreArray(fields));
}

TEST(StepColumns, PhasesReadTheirMembers) {
  StepRecord record;
  record.wait_ns = 1;
  record.copy_ns = 2;
  record.forward_ns = 3;
  record.backward_ns = 4;
  record.optimizer_ns = 5;
  record.comm_ns = 6;
  record.total_ns = 7;
  record.server_build_ns = 8;
  std::vector<std::string> trainers;
  std::vector<std::uint64_t> nanoseconds;
  for (const StepPhase& phase : kTrainerPhases) {
    trainers.emplace_back(phase.name);
    nanoseconds.push_back(phase.nanoseconds(record));
  }
  EXPECT_THAT(trainers, ElementsAre("wait", "copy", "forward", "backward", "optimizer", "comm", "total"));
  EXPECT_THAT(nanoseconds, ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST(StepColumns, OnlyAColumnThatMayBeAbsentMayHaveNoValues) {
  constexpr StepColumn<&StepRecord::wait_ns> kOld{.name = "old_ns"};
  constexpr StepColumn<&StepRecord::wait_ns> kNew{.name = "new_ns", .may_be_absent = true};
  EXPECT_TRUE(kOld.Takes(3, 3) && kNew.Takes(3, 3));
  EXPECT_FALSE(kOld.Takes(2, 3) || kNew.Takes(2, 3));
  EXPECT_FALSE(kOld.Takes(0, 3));
  EXPECT_TRUE(kNew.Takes(0, 3));
}

}  // namespace
}  // namespace packtrain::wire
