#include "trainer/data/chosen_inputs.h"

#include <set>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "trainer/data/input_fields.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {
namespace {

// The first field of `inputs` that the data set lacks; none where it has all.
std::optional<std::string> MissingField(const client::DatasetInfo& dataset, InputSet inputs) {
  for (const InputField& field : FieldsOf(inputs)) {
    if (dataset.FindField(field.name) == nullptr) return std::string(field.name);
  }
  return std::nullopt;
}

// Those of `wanted` of which the data set has every field.
InputSet PresentOf(const client::DatasetInfo& dataset, InputSet wanted) {
  InputSet present = {};
  for (const InputField& field : FieldsOf(wanted)) {
    if (!MissingField(dataset, {field.input})) present = present | InputSet{field.input};
  }
  return present;
}

absl::StatusOr<std::size_t> ChooseNeed(const client::DatasetInfo& dataset,
                                       const std::vector<InputNeeds>& needs) {
  std::set<std::string> missing;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    std::optional<std::string> field = MissingField(dataset, needs[i].required);
    if (!field.has_value()) return i;
    missing.insert(absl::StrCat("'", *field, "'"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(dataset.reference, " has no field ", absl::StrJoin(missing, " and no field "),
                   ", which the model ", missing.size() == 1 ? "reads" : "reads one of"));
}

// `present` is what the data set has.
absl::StatusOr<std::int64_t> CountClasses(const client::DatasetInfo& dataset, std::int64_t present,
                                          std::optional<std::int64_t> wanted, std::string_view noun) {
  if (!wanted.has_value() || *wanted >= present) return wanted.value_or(present);
  return absl::InvalidArgumentError(absl::StrCat("--classes ", *wanted, ": ", dataset.reference, " has ",
                                                 present, " ", std::string(noun), " classes"));
}

absl::StatusOr<TokenClasses> TokenClassesOf(const client::DatasetInfo& dataset) {
  const client::FieldInfo& tokens = *dataset.FindField(kTokenField);
  if (tokens.words > 0) return MakeTokenClasses(tokens);
  return absl::FailedPreconditionError(
      absl::StrCat(dataset.reference, " has numbers, and no words, in field '", std::string(kTokenField), "'"));
}

absl::StatusOr<std::int64_t> CountEdgeTypes(const client::DatasetInfo& dataset,
                                            std::optional<std::int64_t> wanted) {
  const auto types = static_cast<std::int64_t>(dataset.FindField(kEdgeTypeField)->words);
  if (types == 0 && !wanted.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(dataset.reference,
                     " does not say how many types its edges have: --edge-types is to "
                     "be twice that, as each type and its reverse count"));
  }
  if (!wanted.has_value() || *wanted >= 2 * types) return wanted.value_or(2 * types);
  return absl::InvalidArgumentError(absl::StrCat("--edge-types ", *wanted, ": ", dataset.reference, " has ",
                                                 types, " types of edges, and each and its reverse count"));
}

absl::StatusOr<double> MeanLogDegree(const client::DatasetInfo& dataset, const std::string& split) {
  const client::SplitInfo* info = dataset.FindSplit(split);
  if (info != nullptr && info->mean_log_degree.has_value()) return *info->mean_log_degree;
  return absl::FailedPreconditionError(absl::StrCat("the degrees of the nodes in split '", split, "' of ",
                                                    dataset.reference,
                                                    " are not known, as of a data set that was sealed before "
                                                    "they were counted; delete it and import it again"));
}

std::int64_t WidthOf(const client::DatasetInfo& dataset, std::string_view field) {
  return static_cast<std::int64_t>(dataset.FindField(field)->width);
}

// Of the inputs in `feed`, which the data set has.
absl::Status ChooseSizes(const client::DatasetInfo& dataset, const std::string& split,
                         const InputRequest& request, FeedOptions& feed) {
  const InputSet inputs = feed.layout.inputs;
  InputSizes& sizes = feed.layout.sizes;
  for (const InputField& field : FieldsOf(inputs)) {
    if (field.input == Input::kNodeFeatures) sizes.node_features = WidthOf(dataset, field.name);
    if (field.input == Input::kEdgeFeatures) sizes.edge_features = WidthOf(dataset, field.name);
  }
  if (inputs.Has(Input::kAtomicNumbers)) {
    ABSL_ASSIGN_OR_RETURN(feed.classes, MakeClassTable(dataset));
    const auto present = static_cast<std::int64_t>(dataset.classes.size());
    ABSL_ASSIGN_OR_RETURN(sizes.classes, CountClasses(dataset, present, request.classes, "atom"));
  }
  if (inputs.Has(Input::kTokens)) {
    ABSL_ASSIGN_OR_RETURN(feed.token_classes, TokenClassesOf(dataset));
    ABSL_ASSIGN_OR_RETURN(sizes.classes,
                          CountClasses(dataset, feed.token_classes.count, request.classes, "token"));
  }
  if (inputs.Has(Input::kEdgeTypes)) {
    ABSL_ASSIGN_OR_RETURN(sizes.edge_types, CountEdgeTypes(dataset, request.edge_types));
  }
  if (inputs.Has(Input::kDegrees)) {
    ABSL_ASSIGN_OR_RETURN(sizes.mean_log_degree, MeanLogDegree(dataset, split));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ChosenInputs> ChooseInputs(const client::DatasetInfo& dataset, const std::string& split,
                                          const InputRequest& request) {
  ChosenInputs chosen;
  ABSL_ASSIGN_OR_RETURN(chosen.need, ChooseNeed(dataset, request.needs));
  const InputNeeds& needs = request.needs[chosen.need];
  chosen.feed.layout.inputs = needs.required | PresentOf(dataset, needs.optional);
  if (chosen.feed.layout.inputs.Has(Input::kTargets)) {
    ABSL_ASSIGN_OR_RETURN(chosen.feed.targets, ChooseTargets(dataset, split, request.targets));
    chosen.feed.layout.sizes.targets = static_cast<std::int64_t>(chosen.feed.targets.size());
  } else if (!request.targets.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--target ", request.targets, ": the model learns a choice among nodes, and no target"));
  }
  ABSL_RETURN_IF_ERROR(ChooseSizes(dataset, split, request, chosen.feed));
  return chosen;
}

absl::StatusOr<FeedOptions> FeedForOthers(const client::DatasetInfo& dataset, const InputNeeds& needs,
                                          const TrainedFeed& trained) {
  ABSL_RETURN_IF_ERROR(ChooseNeed(dataset, {needs}).status());
  FeedOptions feed = trained.feed;
  feed.layout.inputs = needs.required | PresentOf(dataset, needs.optional);
  for (const InputField& field : FieldsOf(needs.required)) {
    const client::FieldInfo& own = *dataset.FindField(field.name);
    const client::FieldInfo& then = *trained.dataset.FindField(field.name);
    if (own.width == then.width && own.words_hash == then.words_hash) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(dataset.reference, " has field '", std::string(field.name),
                     "' in another width, or with other words, than ", trained.dataset.reference,
                     ", which the model was trained on"));
  }
  if (!feed.layout.inputs.Has(Input::kAtomicNumbers)) return feed;
  for (const std::uint32_t number : dataset.classes) {
    if (number < feed.classes.size() && feed.classes[number] >= 0) continue;
    return absl::FailedPreconditionError(absl::StrCat(dataset.reference, " has atomic number ", number,
                                                      ", and ", trained.dataset.reference,
                                                      ", which the model was trained on, has not"));
  }
  return feed;
}

}  // namespace packtrain::trainer
