#include "trainer/run/run_description.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/batch_reader.h"
#include "trainer/kernels/kernel_form.h"
#include "trainer/run/git_revision.h"
#include "trainer/run/host_name.h"
#include "trainer/run/reported_settings.h"

namespace packtrain::trainer {
namespace {

StepMaking MakingOf(const PreparedTraining& training) {
  const bool has_others = training.device.kernels() != KernelForm::kPlain;
  return {.captured = training.captured, .plain_kernels = training.options.plain_kernels && has_others};
}

}  // namespace

Settings SettingsOfPart(const PreparedTraining& training) {
  const TrainingOptions& options = training.options;
  const TrainingData& data = training.data;
  Settings settings = {{"--dataset", data.dataset.reference},
                       {"--target", NamesOf(data.feed.targets)},
                       {"--model", options.model},
                       {"--classes", absl::StrCat(data.feed.layout.sizes.classes)},
                       {"--model-seed", absl::StrCat(options.model_seed)},
                       {"--lr", absl::StrCat(options.learning_rate)},
                       {"--device", options.device},
                       {"--precision", options.precision},
                       {"--labels", absl::StrJoin(options.labels, ",", absl::PairFormatter("="))}};
  const RateChoices rate = {options.schedule, options.warmup_steps, options.steps};
  for (const Settings& part : {SettingsOf(DescribeChoices(training.entry, training.model)), SettingsOf(rate),
                               SettingsOf(MakingOf(training)), SettingsOf(data.spec)}) {
    settings.insert(settings.end(), part.begin(), part.end());
  }
  settings.push_back({"the plan", data.plan.fingerprint});
  return settings;
}

Settings SettingsOfRanks(const PreparedTraining& training) {
  const TrainingOptions& options = training.options;
  const CheckpointOptions& checkpoint = options.checkpoint;
  Settings settings = SettingsOfPart(training);
  settings.push_back({"--steps", absl::StrCat(options.steps)});
  settings.push_back({"--evaluate-every", absl::StrCat(options.evaluate_every)});
  settings.push_back({"--checkpoint", checkpoint.folder.empty() ? "no" : "yes"});
  settings.push_back({"--checkpoint-every", absl::StrCat(checkpoint.every)});
  settings.push_back({"--resume", checkpoint.resume ? "yes" : "no"});
  settings.push_back({"--synthetic", options.synthetic ? "yes" : "no"});
  settings.push_back({"--on-corrupt", options.on_corrupt == client::OnCorrupt::kSkip ? "skip" : "stop"});
  settings.push_back({"their initial parameters", training.trained.parameters().Checksum()});
  return settings;
}

client::RunDescription DescribeRun(const PreparedTraining& training) {
  const TrainingOptions& options = training.options;
  const TrainingData& data = training.data;
  client::RunDescription run;
  run.model = options.model;
  run.parameters = static_cast<std::uint64_t>(CountParameters(training.trained.model()));
  run.target = TargetToReport(data.feed.targets);
  run.dataset = data.dataset.reference;
  run.spec = data.spec;
  run.plan_fingerprint = data.plan.fingerprint;
  run.precision = options.precision;
  run.engine = EngineName(MakingOf(training));
  run.optimizer = Describe(training.adam);
  run.learning_rate = options.learning_rate;
  run.world_size = options.world.size;
  run.model_seed = options.model_seed;
  run.device = options.device;
  run.hardware_name = training.device.hardware_name();
  run.device_count = options.device == "cpu" ? 1 : options.world.size;
  run.cpu = CpuName();
  run.host = HostName();
  run.driver = training.device.driver();
  run.libraries["libtorch"] = TORCH_VERSION;
  run.git_revision = GitRevision();
  run.labels = options.labels;
  if (options.synthetic) run.labels.emplace("input", "synthetic");
  run.timing_method = training.trained.clock().method();
  run.planned_steps = options.steps;
  run.on_corrupt = options.on_corrupt;
  run.input = InputName(options);
  run.settings = SettingsToReport(options, {.threads = at::get_num_threads(),
                                            .captured = training.captured,
                                            .learning_rate_schedule = DescribeSchedule(training.adam),
                                            .classes = data.feed.layout.sizes.classes,
                                            .model = DescribeChoices(training.entry, training.model)});
  return run;
}

}  // namespace packtrain::trainer
