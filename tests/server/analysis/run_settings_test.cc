#include "server/analysis/run_settings.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/analysis/reported_run.h"

namespace packtrain::analysis {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

// "spec.policy": every field that holds a value, a map as one.
void CollectFields(const Descriptor& type, const std::string& prefix, std::set<std::string>& fields) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string path = absl::StrCat(prefix, field.name());
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_map()) {
      CollectFields(*field.message_type(), absl::StrCat(path, "."), fields);
    } else {
      fields.insert(path);
    }
  }
}

TEST(RunSettings, EveryFieldOfTheDescriptionHasAKind) {
  std::set<std::string> fields;
  CollectFields(*v1::RunDescription::descriptor(), "", fields);
  ASSERT_THAT(fields, Contains("spec.cost.node"));
  ASSERT_THAT(fields, Contains("settings.other"));
  std::set<std::string> in_table;
  for (const RunSetting& setting : AllSettings()) in_table.insert(setting.fields.begin(), setting.fields.end());
  EXPECT_EQ(in_table, fields);
}

TEST(RunSettings, ThePageListsEveryKeyInTheRowOfItsKind) {
  const std::map<SettingKind, std::string> heads = {{SettingKind::kFactor, "| factor |"},
                                                    {SettingKind::kCondition, "| condition |"},
                                                    {SettingKind::kNote, "| note |"},
                                                    {SettingKind::kRepeat, "| repeat |"},
                                                    {SettingKind::kRecord, "| record |"}};
  std::map<SettingKind, std::string> rows;
  std::ifstream page(PACKTRAIN_ANALYSIS_PAGE);
  for (std::string line; std::getline(page, line);) {
    for (const auto& [kind, head] : heads) {
      if (line.starts_with(head))
        rows[kind] = line.substr(head.size(), line.find('|', head.size()) - head.size());
    }
  }
  std::map<SettingKind, std::size_t> counts;
  for (const RunSetting& setting : AllSettings()) {
    const std::string key = absl::StrCat("`", setting.key, setting.entries != nullptr ? "NAME`" : "`");
    EXPECT_THAT(rows[setting.kind], HasSubstr(key));
    ++counts[setting.kind];
  }
  for (const auto& [kind, row] : rows) {
    EXPECT_EQ(static_cast<std::size_t>(std::count(row.begin(), row.end(), '`')), 2 * counts[kind]) << row;
  }
}

TEST(RunSettings, KeysAreUnique) {
  std::set<std::string> keys;
  for (const RunSetting& setting : AllSettings()) EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
}

// The message that holds the last name of `path`, and that field.
std::pair<Message*, const FieldDescriptor*> FieldAt(Message& message, const std::string& path) {
  const std::size_t dot = path.find('.');
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(path.substr(0, dot));
  if (dot == std::string::npos) return {&message, field};
  return FieldAt(*message.GetReflection()->MutableMessage(&message, field), path.substr(dot + 1));
}

// To a value that no test description has.
void Change(v1::RunDescription& description, const std::string& path) {
  if (path == "labels" || path == "libraries" || path == "settings.other") {
    description.mutable_labels()->insert({"x", "1"});
    description.mutable_libraries()->insert({"x", "1"});
    description.mutable_settings()->mutable_other()->insert({"x", "1"});
    return;
  }
  const auto [message, field] = FieldAt(description, path);
  const google::protobuf::Reflection& reflection = *message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(message, field, "other@2");
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(message, field, 0.1234567);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(message, field, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.SetEnumValue(message, field, 3);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.SetUInt32(message, field, 77);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.SetUInt64(message, field, 77);
    default:
      FAIL() << "a type without a value for tests: " << path;
  }
}

std::string Read(const RunSetting& setting, const v1::Run& run) {
  if (setting.entries != nullptr) return absl::StrCat(setting.entries(run).size());
  return setting.read(run).value_or("none");
}

TEST(RunSettings, EachFieldMovesEachSettingThatNamesIt) {
  for (const RunSetting& setting : AllSettings()) {
    for (const std::string& field : setting.fields) {
      v1::Run run;
      *run.mutable_description() = SampleDescription();
      v1::RunDescription& description = *run.mutable_description();
      if (field == "hardware.device") description.mutable_hardware()->clear_name();
      if (field == "spec.skip_above_limit") description.mutable_spec()->set_skip_above(v1::SKIP_ABOVE_NODES);
      if (field == "spec.ladder_rungs") description.mutable_spec()->set_pad(v1::PAD_LADDER);
      const std::string before = Read(setting, run);
      if (setting.key == "input" && field == "labels") {
        description.mutable_labels()->insert({"input", "synthetic"});
      } else {
        Change(description, field);
      }
      EXPECT_NE(Read(setting, run), before) << setting.key << " of " << field;
    }
  }
}

SettingTexts Factors(const v1::RunDescription& description) {
  v1::Run run;
  *run.mutable_description() = description;
  return ReadSettings(run, SettingKind::kFactor);
}

std::string Read(const std::string& key, const v1::RunDescription& description) {
  v1::Run run;
  *run.mutable_description() = description;
  const std::optional<RunSetting> setting = FindSetting(key);
  return setting.has_value() ? setting->read(run).value_or("none") : "no setting";
}

TEST(RunSettings, SeedsBudgetsHostAndLabelsAreNoFactors) {
  v1::RunDescription description = SampleDescription();
  const SettingTexts factors = Factors(description);
  description.mutable_spec()->set_seed(9);
  description.mutable_spec()->set_nodes(900);
  description.mutable_spec()->set_max_graphs(99);
  description.set_model_seed(9);
  description.set_plan_fingerprint("ff");
  description.mutable_hardware()->set_host("other");
  description.mutable_labels()->insert({"a", "b"});
  EXPECT_EQ(Factors(description), factors);
  description.mutable_spec()->set_graphs(64);
  EXPECT_NE(Factors(description), factors);
}

TEST(RunSettings, TheHardwareThatIsComparedIsThatOfOneRank) {
  const auto hardware = [](std::uint32_t ranks, std::uint32_t devices) {
    v1::RunDescription description = SampleDescription();
    description.set_world_size(ranks);
    description.mutable_hardware()->set_count(devices);
    return Factors(description).at("hardware");
  };
  EXPECT_EQ(hardware(1, 1), "Xeon");
  EXPECT_EQ(hardware(2, 2), "Xeon");
  EXPECT_EQ(hardware(2, 1), "Xeon");
  EXPECT_EQ(hardware(1, 8), "8 x Xeon");
  EXPECT_EQ(hardware(2, 16), "8 x Xeon");
}

TEST(RunSettings, ADatasetWithoutVersionHasAnEmptyOne) {
  v1::RunDescription description;
  description.set_dataset("qm9");
  EXPECT_EQ(Read("dataset", description), "qm9");
  EXPECT_EQ(Read("version", description), "");
}

TEST(RunSettings, AnOlderClientsLabelSaysThatItsInputIsSynthetic) {
  v1::RunDescription description;
  EXPECT_EQ(Read("input", description), "served");
  description.mutable_labels()->insert({"input", "synthetic"});
  EXPECT_EQ(Read("input", description), "synthetic");
  description.set_input("served");
  EXPECT_EQ(Read("input", description), "served");
}

TEST(RunSettings, ALearningRateKeepsAllItsDigits) {
  v1::RunDescription description;
  for (const auto& [rate, text] : std::map<double, std::string>{
           {1e-4, "0.0001"}, {0.000123456789, "0.000123456789"}, {0.1 + 0.2, "0.30000000000000004"}}) {
    description.set_learning_rate(rate);
    EXPECT_EQ(Read("learning_rate", description), text);
  }
}

TEST(RunSettings, TheOptimizerIsWithoutItsLearningRate) {
  v1::RunDescription description;
  description.set_learning_rate(0.01);
  description.set_optimizer("adam lr=0.01 decay=0.96/100000");
  EXPECT_EQ(Read("optimizer", description), "adam decay=0.96/100000");
  description.set_optimizer("sgd lr=0.015");
  EXPECT_EQ(Read("optimizer", description), "sgd lr=0.015");
}

TEST(RunSettings, WhatIsNotGivenIsNotRead) {
  v1::Run run;
  *run.mutable_description() = SampleDescription();
  const SettingTexts conditions = ReadSettings(run, SettingKind::kCondition);
  EXPECT_THAT(conditions, Not(Contains(Key("threads"))));
  EXPECT_THAT(conditions, Not(Contains(Key("nodes"))));
  EXPECT_THAT(conditions, Contains(Pair("order", "full")));
  EXPECT_THAT(conditions, Contains(Pair("cost", "0,1,1")));
  EXPECT_THAT(conditions, Not(Contains(Key("planned_steps"))));
  run.mutable_description()->set_planned_steps(30);
  EXPECT_THAT(ReadSettings(run, SettingKind::kCondition), Contains(Pair("planned_steps", "30")));
}

TEST(RunSettings, FamiliesHaveAKeyForEveryName) {
  v1::Run run;
  run.mutable_description()->mutable_settings()->mutable_other()->insert({"readout", "mean"});
  run.mutable_description()->mutable_libraries()->insert({"libtorch", "2.10.0"});
  run.mutable_description()->mutable_labels()->insert({"a.b", "c"});
  EXPECT_EQ(FindSetting("other.readout")->read(run), "mean");
  EXPECT_EQ(FindSetting("other.readout")->kind, SettingKind::kCondition);
  EXPECT_EQ(FindSetting("library.libtorch")->read(run), "2.10.0");
  EXPECT_EQ(FindSetting("label.a.b")->read(run), "c");
  EXPECT_EQ(FindSetting("label.none")->read(run), std::nullopt);
  EXPECT_FALSE(FindSetting("label.").has_value());
  EXPECT_THAT(ReadSettings(run, SettingKind::kCondition), Contains(Pair("other.readout", "mean")));
  EXPECT_THAT(KnownSettings({SettingKind::kNote}), "driver, git_revision, host, started, library.NAME");
}

TEST(RunSettings, ASeedOfZeroIsGivenByATrainerThatSaysItsSettings) {
  v1::RunDescription description = SampleDescription();
  EXPECT_EQ(SeedsOf(description), std::nullopt);
  description.mutable_settings();
  EXPECT_EQ(SeedsOf(description), RunSeeds({0, 0}));
  description.clear_settings();
  description.set_model_seed(5);
  description.mutable_spec()->set_seed(4);
  EXPECT_EQ(SeedsOf(description), RunSeeds({4, 5}));
  description.clear_spec();
  EXPECT_EQ(SeedsOf(description), std::nullopt);
}

}  // namespace
}  // namespace packtrain::analysis
