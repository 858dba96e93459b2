// What a training is, once it is prepared: as its next part and its ranks must have it, and as the run's record
// says it.
#ifndef PACKTRAIN_TRAINER_RUN_RUN_DESCRIPTION_H_
#define PACKTRAIN_TRAINER_RUN_RUN_DESCRIPTION_H_

#include "client/run_reporter.h"
#include "trainer/data/training_data.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/trained_model.h"
#include "trainer/models/model.h"
#include "trainer/run/run_settings.h"
#include "trainer/run/training_options.h"

namespace packtrain::trainer {

// One rank's, borrowed for a call.
struct PreparedTraining {
  const TrainingOptions& options;
  const TrainingData& data;
  const ModelEntry& entry;
  const ModelOptions& model;  // complete, but for its kernels
  const AdamOptions& adam;
  const Device& device;
  TrainedModel& trained;
  bool captured = false;  // the engine that was chosen
};

// What a part of a training must have in common with the one before. The world's size is not among it.
Settings SettingsOfPart(const PreparedTraining& training);

// What all ranks must have in common: they train the same model on parts of the same plan, and meet at the same
// moments. Before a checkpoint is restored, since initial parameters are among it.
Settings SettingsOfRanks(const PreparedTraining& training);

// Without the environment, which rank 0 alone describes.
client::RunDescription DescribeRun(const PreparedTraining& training);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_RUN_DESCRIPTION_H_
