#include "server/analysis/run_settings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/batch_spec_convert.h"
#include "proto/wire/run_words.h"

namespace packtrain::analysis {
namespace {

using Description = v1::RunDescription;
using Reader = RunSetting::Reader;
using Rows = std::vector<RunSetting>;

// As few digits as read back as the same number.
std::string NumberText(double number) {
  std::string text;
  for (int digits = 6; digits <= 17; ++digits) {
    text = absl::StrFormat("%.*g", digits, number);
    double read = 0;
    if (absl::SimpleAtod(text, &read) && read == number) break;
  }
  return text;
}
std::string NumberText(std::uint64_t number) { return absl::StrCat(number); }
std::string NumberText(std::uint32_t number) { return absl::StrCat(number); }

// Reads a text; an empty one is a value.
template <typename Read>
Reader Text(Read read) {
  return [read](const v1::Run& run) { return std::string(std::invoke(read, run.description())); };
}
// Reads a text; an empty one is not known.
template <typename Read>
Reader TextIfAny(Read read) {
  return [read](const v1::Run& run) -> std::optional<std::string> {
    std::string text(std::invoke(read, run.description()));
    if (text.empty()) return std::nullopt;
    return text;
  };
}
template <typename Read>
Reader Number(Read read) {
  return [read](const v1::Run& run) { return NumberText(std::invoke(read, run.description())); };
}
// Reads a number; 0 is not known.
template <typename Read>
Reader NumberIfAny(Read read) {
  return [read](const v1::Run& run) -> std::optional<std::string> {
    const auto number = std::invoke(read, run.description());
    if (number == 0) return std::nullopt;
    return NumberText(number);
  };
}

// `word` of an enum of the spec, whose value 0 means `unspecified`.
template <typename Enum, std::size_t N, typename Read>
Reader WordOfSpec(const wire::Word<Enum> (&words)[N], Enum unspecified, Read read) {
  return Text([&words, unspecified, read](const Description& d) {
    const int number = read(d.spec());
    return wire::WordOf(number == 0 ? unspecified : static_cast<Enum>(number), words);
  });
}

// Of an `optional` field of a part of the description.
template <typename Part, typename Value>
Reader Optional(const Part& (Description::*part)() const, bool (Part::*has)() const,
                Value (Part::*value)() const) {
  return [part, has, value](const v1::Run& run) -> std::optional<std::string> {
    const Part& message = (run.description().*part)();
    if (!(message.*has)()) return std::nullopt;
    return NumberText((message.*value)());
  };
}

std::string YesOrNo(bool yes) { return yes ? "yes" : "no"; }

std::string DatasetName(const Description& description) {
  return description.dataset().substr(0, description.dataset().find('@'));
}

std::string DatasetVersion(const Description& description) {
  const std::size_t at = description.dataset().find('@');
  return at == std::string::npos ? "" : description.dataset().substr(at + 1);
}

// The devices of one rank: how many ranks there are is a factor of its own.
std::string HardwareOfARank(const Description& description) {
  v1::Hardware hardware = description.hardware();
  hardware.set_count(hardware.count() / std::max(1u, description.world_size()));
  return wire::HardwareName(hardware);
}

std::string CostText(const Description& description) {
  const v1::CostCoefficients& cost = description.spec().cost();
  if (!description.spec().has_cost()) return "0,1,1";
  return absl::StrCat(cost.graph(), ",", cost.node(), ",", cost.edge());
}

// Without the learning rate, which is a setting of its own.
std::string OptimizerText(const Description& description) {
  std::string text = description.optimizer();
  const std::string rate = absl::StrCat(" lr=", description.learning_rate());
  const std::size_t at = text.find(rate);
  const std::size_t end = at + rate.size();
  if (at != std::string::npos && (end == text.size() || text[end] == ' ')) text.erase(at, rate.size());
  return text;
}

std::optional<std::string> LookaheadText(const v1::Run& run) {
  const v1::BatchSpec& spec = run.description().spec();
  if (spec.has_lookahead()) return absl::StrCat(spec.lookahead());
  if (spec.policy() == v1::POLICY_PACKED) return "64";
  return std::nullopt;
}

std::optional<std::string> SharesHost(const v1::Run& run) {
  const v1::RunEnvironment& environment = run.description().environment();
  if (!environment.has_shares_host_with_server()) return std::nullopt;
  return YesOrNo(environment.shares_host_with_server());
}

std::optional<std::string> Started(const v1::Run& run) {
  if (run.started_ms() == 0) return std::nullopt;
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(run.started_ms()), absl::UTCTimeZone());
}

RunSetting Factor(std::string key, std::vector<std::string> fields, Reader read, std::string belongs_to = "") {
  return {.key = std::move(key),
          .kind = SettingKind::kFactor,
          .fields = std::move(fields),
          .read = std::move(read),
          .belongs_to = std::move(belongs_to)};
}
RunSetting Condition(std::string key, std::string field, Reader read, std::string belongs_to = "") {
  return {.key = std::move(key),
          .kind = SettingKind::kCondition,
          .fields = {std::move(field)},
          .read = std::move(read),
          .belongs_to = std::move(belongs_to)};
}
RunSetting Noted(std::string key, std::vector<std::string> fields, Reader read) {
  return {
      .key = std::move(key), .kind = SettingKind::kNote, .fields = std::move(fields), .read = std::move(read)};
}
RunSetting Repeat(std::string key, std::string field, Reader read) {
  return {.key = std::move(key),
          .kind = SettingKind::kRepeat,
          .fields = {std::move(field)},
          .read = std::move(read)};
}
RunSetting OfRecord(std::string key, Reader read) {
  return {.key = std::move(key), .kind = SettingKind::kRecord, .fields = {}, .read = std::move(read)};
}
RunSetting Family(std::string prefix, SettingKind kind, std::string field,
                  std::function<const RunSetting::Entries&(const v1::Run& run)> entries) {
  return {.key = std::move(prefix),
          .kind = kind,
          .fields = {std::move(field)},
          .read = nullptr,
          .type = ValueType::kAny,
          .entries = std::move(entries)};
}

RunSetting AsNumber(RunSetting setting) {
  setting.type = ValueType::kNumber;
  return setting;
}
RunSetting OfLearning(RunSetting setting) {
  setting.of_learning = true;
  return setting;
}
RunSetting ComparedAs(Reader compared, RunSetting setting) {
  setting.compared = std::move(compared);
  return setting;
}

Rows Factors() {
  return {
      Factor("dataset", {"dataset"}, Text(DatasetName)),
      Factor("version", {"dataset"}, Text(DatasetVersion), "dataset"),
      Factor("model", {"model"}, Text(&Description::model)),
      Factor("target", {"target"}, Text(&Description::target)),
      Factor("policy", {"spec.policy", "spec.pad", "spec.ladder_rungs"},
             Text([](const Description& d) { return wire::PolicyName(d.spec()); })),
      AsNumber(Factor("batch_graphs", {"spec.graphs"},
                      Number([](const Description& d) { return d.spec().graphs(); }))),
      Factor("skip_above", {"spec.skip_above", "spec.skip_above_limit"},
             Text([](const Description& d) { return wire::SkipAboveName(d.spec()); })),
      Factor("precision", {"precision"}, Text(&Description::precision)),
      Factor("engine", {"engine"}, Text(&Description::engine)),
      Factor("input", {"input", "labels"}, Text(wire::InputOf)),
      AsNumber(Factor("world_size", {"world_size"}, Number(&Description::world_size))),
      ComparedAs(Text(HardwareOfARank),
                 Factor("hardware", {"hardware.device", "hardware.name", "hardware.count"},
                        Text([](const Description& d) { return wire::HardwareName(d.hardware()); }))),
      Factor("cpu", {"hardware.cpu"}, Text([](const Description& d) { return d.hardware().cpu(); }),
             "hardware"),
  };
}

// Of the spec: how an epoch is cut into batches.
Rows ConditionsOfBatches() {
  return {
      AsNumber(Condition(
          "max_graphs", "spec.max_graphs",
          Optional(&Description::spec, &v1::BatchSpec::has_max_graphs, &v1::BatchSpec::max_graphs), "policy")),
      AsNumber(Condition("nodes", "spec.nodes",
                         Optional(&Description::spec, &v1::BatchSpec::has_nodes, &v1::BatchSpec::nodes),
                         "policy")),
      AsNumber(Condition("edges", "spec.edges",
                         Optional(&Description::spec, &v1::BatchSpec::has_edges, &v1::BatchSpec::edges),
                         "policy")),
      AsNumber(Condition(
          "budget_sample", "spec.budget_sample",
          Optional(&Description::spec, &v1::BatchSpec::has_budget_sample, &v1::BatchSpec::budget_sample),
          "policy")),
      AsNumber(Condition("lookahead", "spec.lookahead", LookaheadText, "policy")),
      AsNumber(Condition("blocks", "spec.blocks",
                         Optional(&Description::spec, &v1::BatchSpec::has_blocks, &v1::BatchSpec::blocks),
                         "policy")),
      AsNumber(
          Condition("block_nodes", "spec.block_nodes",
                    Optional(&Description::spec, &v1::BatchSpec::has_block_nodes, &v1::BatchSpec::block_nodes),
                    "policy")),
      Condition("order", "spec.order",
                WordOfSpec(wire::kOrderWords, wire::Order::kFull,
                           [](const v1::BatchSpec& spec) { return static_cast<int>(spec.order()); })),
      AsNumber(Condition(
          "order_window", "spec.order_window",
          Optional(&Description::spec, &v1::BatchSpec::has_order_window, &v1::BatchSpec::order_window))),
      Condition("balance", "spec.balance",
                WordOfSpec(wire::kBalanceWords, wire::Balance::kNone,
                           [](const v1::BatchSpec& spec) { return static_cast<int>(spec.balance()); })),
      {.key = "cost",
       .kind = SettingKind::kCondition,
       .fields = {"spec.cost.graph", "spec.cost.node", "spec.cost.edge"},
       .read = Text(CostText)},
      Condition("oversize", "spec.oversize",
                WordOfSpec(wire::kOversizeWords, wire::Oversize::kError,
                           [](const v1::BatchSpec& spec) { return static_cast<int>(spec.oversize()); })),
      Condition("drop_last", "spec.drop_last",
                Text([](const Description& d) { return YesOrNo(d.spec().drop_last()); })),
      Condition("split", "spec.split", TextIfAny([](const Description& d) { return d.spec().split(); })),
      Condition("on_corrupt", "on_corrupt", Text([](const Description& d) {
                  const bool unspecified = d.on_corrupt() == v1::ON_CORRUPT_UNSPECIFIED;
                  return wire::WordOf(unspecified ? v1::ON_CORRUPT_STOP : d.on_corrupt(),
                                      wire::kOnCorruptWords);
                })),
  };
}

Rows ConditionsOfTraining() {
  return {
      AsNumber(Condition("parameters", "parameters", Number(&Description::parameters))),
      Condition("optimizer", "optimizer", TextIfAny(OptimizerText)),
      AsNumber(Condition("learning_rate", "learning_rate", Number(&Description::learning_rate))),
      Condition("learning_rate_schedule", "settings.learning_rate_schedule",
                TextIfAny([](const Description& d) { return d.settings().learning_rate_schedule(); })),
      OfLearning(
          AsNumber(Condition("planned_steps", "planned_steps", NumberIfAny(&Description::planned_steps)))),
      AsNumber(Condition("evaluate_every", "settings.evaluate_every",
                         Optional(&Description::settings, &v1::TrainerSettings::has_evaluate_every,
                                  &v1::TrainerSettings::evaluate_every))),
      AsNumber(Condition("checkpoint_every", "settings.checkpoint_every",
                         Optional(&Description::settings, &v1::TrainerSettings::has_checkpoint_every,
                                  &v1::TrainerSettings::checkpoint_every))),
      AsNumber(Condition("max_captures", "settings.max_captures",
                         Optional(&Description::settings, &v1::TrainerSettings::has_max_captures,
                                  &v1::TrainerSettings::max_captures),
                         "engine")),
      AsNumber(Condition(
          "threads", "settings.threads",
          Optional(&Description::settings, &v1::TrainerSettings::has_threads, &v1::TrainerSettings::threads))),
      AsNumber(Condition("read_ahead_bytes", "settings.read_ahead_bytes",
                         Optional(&Description::settings, &v1::TrainerSettings::has_read_ahead_bytes,
                                  &v1::TrainerSettings::read_ahead_bytes))),
      Condition("timing_method", "timing_method", TextIfAny(&Description::timing_method)),
      AsNumber(Condition("server_builders", "environment.server_builders",
                         Optional(&Description::environment, &v1::RunEnvironment::has_server_builders,
                                  &v1::RunEnvironment::server_builders))),
      Condition("shares_host_with_server", "environment.shares_host_with_server", SharesHost),
      AsNumber(Condition("power_limit_watts", "environment.power_limit_watts",
                         Optional(&Description::environment, &v1::RunEnvironment::has_power_limit_watts,
                                  &v1::RunEnvironment::power_limit_watts))),
      Family("other.", SettingKind::kCondition, "settings.other",
             [](const v1::Run& run) -> const RunSetting::Entries& {
               return run.description().settings().other();
             }),
  };
}

Rows Notes() {
  return {
      Noted("host", {"hardware.host"}, TextIfAny([](const Description& d) { return d.hardware().host(); })),
      Noted("driver", {"hardware.driver"},
            TextIfAny([](const Description& d) { return d.hardware().driver(); })),
      Family("library.", SettingKind::kNote, "libraries",
             [](const v1::Run& run) -> const RunSetting::Entries& { return run.description().libraries(); }),
      Noted("git_revision", {"git_revision"}, TextIfAny(&Description::git_revision)),
      Noted(kStartedKey, {}, Started),
  };
}

Rows Repeats() {
  return {
      AsNumber(Repeat("seed", "spec.seed", Number([](const Description& d) { return d.spec().seed(); }))),
      AsNumber(Repeat("model_seed", "model_seed", Number(&Description::model_seed))),
      // Follows from data set, spec, seed and world size.
      Repeat("plan_fingerprint", "plan_fingerprint", Text(&Description::plan_fingerprint)),
      Family("label.", SettingKind::kRepeat, "labels",
             [](const v1::Run& run) -> const RunSetting::Entries& { return run.description().labels(); }),
  };
}

Rows OfRecords() {
  return {
      OfRecord("run", [](const v1::Run& run) { return run.run(); }),
      OfRecord("state", [](const v1::Run& run) { return wire::StateName(run.state()); }),
      AsNumber(OfRecord("steps", [](const v1::Run& run) { return absl::StrCat(run.steps()); })),
  };
}

Rows MakeSettings() {
  Rows all;
  for (Rows part :
       {Factors(), ConditionsOfBatches(), ConditionsOfTraining(), Notes(), Repeats(), OfRecords()}) {
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  return all;
}

Reader EntryReader(const RunSetting& family, std::string name) {
  return [entries = family.entries, name = std::move(name)](const v1::Run& run) -> std::optional<std::string> {
    const auto found = entries(run).find(name);
    if (found == entries(run).end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace

const std::vector<RunSetting>& AllSettings() {
  static const Rows all = MakeSettings();
  return all;
}

std::optional<RunSetting> FindSetting(std::string_view key) {
  for (const RunSetting& setting : AllSettings()) {
    if (setting.entries == nullptr) {
      if (setting.key == key) return setting;
      continue;
    }
    if (!key.starts_with(setting.key) || key.size() == setting.key.size()) continue;
    RunSetting entry = setting;
    entry.key = std::string(key);
    entry.read = EntryReader(setting, std::string(key.substr(setting.key.size())));
    entry.entries = nullptr;
    return entry;
  }
  return std::nullopt;
}

std::string KnownSettings(std::initializer_list<SettingKind> kinds) {
  std::set<std::string> plain;
  std::set<std::string> families;
  for (const RunSetting& setting : AllSettings()) {
    if (std::find(kinds.begin(), kinds.end(), setting.kind) == kinds.end()) continue;
    if (setting.entries == nullptr) plain.insert(setting.key);
    if (setting.entries != nullptr) families.insert(absl::StrCat(setting.key, "NAME"));
  }
  std::vector<std::string> keys(plain.begin(), plain.end());
  keys.insert(keys.end(), families.begin(), families.end());
  return absl::StrJoin(keys, ", ");
}

SettingTexts ReadSettings(const v1::Run& run, SettingKind kind) {
  SettingTexts texts;
  for (const RunSetting& setting : AllSettings()) {
    if (setting.kind != kind) continue;
    if (setting.entries != nullptr) {
      for (const auto& [name, value] : setting.entries(run)) texts[absl::StrCat(setting.key, name)] = value;
      continue;
    }
    const Reader& read = setting.compared != nullptr ? setting.compared : setting.read;
    if (std::optional<std::string> text = read(run)) texts[setting.key] = *std::move(text);
  }
  return texts;
}

std::optional<RunSeeds> SeedsOf(const v1::RunDescription& description) {
  if (!description.has_spec()) return std::nullopt;
  if (description.model_seed() == 0 && !description.has_settings()) return std::nullopt;
  return RunSeeds{description.spec().seed(), description.model_seed()};
}

}  // namespace packtrain::analysis
