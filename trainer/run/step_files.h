// What a training reads, in files of torch.load, so that another program can repeat it:
//
//   DIR/parameters.pt      the model's parameters and buffers before the first of the steps, by name
//   DIR/step-7.rank-0.pt   the padded batch of step 7 on rank 0: members of GraphTensors, by name
#ifndef PACKTRAIN_TRAINER_RUN_STEP_FILES_H_
#define PACKTRAIN_TRAINER_RUN_STEP_FILES_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/models/model.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// Used by one thread.
class StepFiles {
 public:
  // To be called on each rank before any of them calls Create. INVALID_ARGUMENT: the folder holds such files.
  static absl::Status CheckUnused(const std::string& folder);
  // Makes the folder; rank 0 writes the parameters. INVALID_ARGUMENT: something cannot be written, and says
  // what.
  static absl::StatusOr<StepFiles> Create(const std::string& folder, const World& world, const Model& model);

  // Waits for the device. DATA_LOSS: the file cannot be written.
  absl::Status Write(std::uint64_t step, const GraphTensors& graphs) const;

 private:
  StepFiles(std::filesystem::path folder, std::uint32_t rank) : folder_(std::move(folder)), rank_(rank) {}

  std::filesystem::path folder_;
  std::uint32_t rank_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_STEP_FILES_H_
