// Files of what a training reads.
#include "trainer/run/step_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/trainer/molecules.h"
#include "tests/trainer/trainee.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

TEST(StepFiles, AFolderWithThoseOfAnEarlierTrainingIsRefused) {
  const testing::TempFolder folder;
  EXPECT_THAT(StepFiles::CheckUnused(folder.PathOf("new")), IsOk());
  folder.Write("step-by-step.txt", "");
  EXPECT_THAT(StepFiles::CheckUnused(folder.PathOf("")), IsOk());
  folder.Write("step-3.rank-1.pt", "");
  EXPECT_THAT(
      StepFiles::CheckUnused(folder.PathOf("")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("step-3.rank-1.pt of an earlier training")));
  Trainee trainee(Alone());
  const std::string parameters = folder.PathOf("parameters");
  ASSERT_THAT(StepFiles::Create(parameters, World{}, trainee.model()), IsOk());
  EXPECT_THAT(StepFiles::CheckUnused(parameters),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parameters.pt of an earlier training")));
}

TEST(StepFiles, AStepThatCannotBeWrittenIsNoWrongUsage) {
  const testing::TempFolder folder;
  Trainee trainee(Alone());
  const std::string path = folder.PathOf("steps");
  const absl::StatusOr<StepFiles> files = StepFiles::Create(path, World{}, trainee.model());
  ASSERT_THAT(files, IsOk());
  EXPECT_THAT(files->Write(0, TensorsOf(Molecules())), IsOk());
  std::filesystem::remove_all(path);
  EXPECT_THAT(files->Write(1, TensorsOf(Molecules())),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("step-1.rank-0.pt")));
}

}  // namespace
}  // namespace packtrain::trainer
