#include "client/ingest/formats/joined_targets.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "client/ingest/formats/joined_words.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"
#include "server/records/schema.h"

namespace packtrain::ingest {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool IsTargetField(const v1::Field& field) { return field.name() == records::kTargetField; }

v1::Schema WithoutTargets(v1::Schema schema) {
  google::protobuf::RepeatedPtrField<v1::Field>& fields = *schema.mutable_fields();
  fields.erase(std::remove_if(fields.begin(), fields.end(), IsTargetField), fields.end());
  schema.clear_targets();
  return schema;
}

// Puts the field of the targets behind so many others.
void AddTargetField(int place, v1::Schema& schema) {
  v1::Field& field = *schema.add_fields();
  field.set_name(std::string(records::kTargetField));
  field.set_scope(v1::FIELD_SCOPE_GRAPH);
  field.set_data_type(v1::DATA_TYPE_F64);
  field.add_dims(static_cast<std::uint32_t>(schema.targets_size()));
  for (int k = schema.fields_size() - 1; k > place; --k) schema.mutable_fields()->SwapElements(k, k - 1);
}

// None where the schema has no targets.
std::optional<int> PlaceOfTargets(const v1::Schema& schema) {
  const auto field = std::find_if(schema.fields().begin(), schema.fields().end(), IsTargetField);
  if (field == schema.fields().end()) return std::nullopt;
  return static_cast<int>(field - schema.fields().begin());
}

double ValueAt(const void* bytes) {
  double value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

bool JoinedTargets::Add(const v1::Schema& schema) {
  const v1::Schema joined = WithoutWords(schema);
  if (count_ == 0) first_ = joined;
  for (const v1::Target& target : schema.targets()) {
    std::vector<std::size_t>& files = files_[target.name()];
    if (files.empty()) targets_.push_back(target);
    files.push_back(count_);
  }
  ++count_;
  if (!place_) place_ = PlaceOfTargets(joined);
  is_uniform_ = is_uniform_ && joined.SerializeAsString() == first_.SerializeAsString();
  return WithoutTargets(joined).SerializeAsString() == WithoutTargets(first_).SerializeAsString();
}

absl::Status JoinedTargets::Count(const records::RecordLayout& layout, const v1::Schema& schema,
                                  const v1::RecordBlock& block) {
  const std::optional<std::size_t> field = layout.FindField(records::kTargetField);
  if (!field) return absl::OkStatus();
  for (const std::string& bytes : block.records()) {
    const absl::StatusOr<records::RecordView> record =
        records::RecordView::Parse(layout, std::as_bytes(std::span(bytes)));
    if (!record.ok()) return absl::InvalidArgumentError(record.status().message());
    const std::byte* value = record->field(*field).data();
    for (const v1::Target& target : schema.targets()) {
      if (!std::isnan(ValueAt(value))) ++graphs_[target.name()];
      value += sizeof(double);
    }
  }
  return absl::OkStatus();
}

v1::Schema JoinedTargets::JoinedSchema(bool allow_missing) const {
  v1::Schema schema = WithoutTargets(first_);
  std::vector<v1::Target> targets = targets_;
  const auto graphs = [this](const v1::Target& target) {
    const auto found = graphs_.find(target.name());
    return found == graphs_.end() ? 0 : found->second;
  };
  if (!graphs_.empty()) {
    std::sort(targets.begin(), targets.end(), [&](const v1::Target& a, const v1::Target& b) {
      return graphs(a) != graphs(b) ? graphs(a) > graphs(b) : NaturalLess(a.name(), b.name());
    });
  }
  for (const v1::Target& target : targets) {
    if (allow_missing || files_.at(target.name()).size() == count_) *schema.add_targets() = target;
  }
  if (!schema.targets().empty()) AddTargetField(place_.value_or(schema.fields_size()), schema);
  return schema;
}

void JoinedTargets::Keep(const records::RecordLayout& layout, const v1::Schema& schema,
                         const v1::RecordBlock& block) {
  std::vector<std::uint32_t> places;
  for (const v1::Target& target : schema.targets()) {
    const auto place = std::ranges::find(targets_, target.name(), &v1::Target::name);
    places.push_back(static_cast<std::uint32_t>(place - targets_.begin()));
  }
  const std::optional<std::size_t> field = layout.FindField(records::kTargetField);
  std::vector<KeptLabels::Found> found;
  for (const std::string& bytes : block.records()) {
    found.clear();
    if (field) {
      const absl::StatusOr<records::RecordView> record =
          records::RecordView::Parse(layout, std::as_bytes(std::span(bytes)));
      const std::byte* value = record.ok() ? record->field(*field).data() : nullptr;
      for (std::size_t k = 0; value != nullptr && k < places.size(); ++k, value += sizeof(double)) {
        if (!std::isnan(ValueAt(value))) found.push_back({places[k], true});
      }
    }
    kept_.Add(found);
  }
}

std::vector<LabelUse> JoinedTargets::Uses(const v1::Schema& joined, const std::vector<std::string>& paths,
                                          std::span<const std::uint64_t> refused) const {
  const KeptLabels::Counts kept = kept_.CountsWithout(refused);
  std::vector<LabelUse> uses;
  for (std::size_t place = 0; place < targets_.size(); ++place) {
    LabelUse use;
    use.name = targets_[place].name();
    use.found = kept.Of(place).found;
    use.graphs = kept.graphs;
    const std::vector<std::size_t>& with_target = files_.at(use.name);  // ascending
    for (std::size_t file = 0; file < count_; ++file) {
      if (!std::binary_search(with_target.begin(), with_target.end(), file)) {
        use.lacking_files.push_back(paths[file]);
      }
    }
    use.used = std::ranges::find(joined.targets(), use.name, &v1::Target::name) != joined.targets().end();
    if (!use.used) use.reason = "missing_in_some";
    uses.push_back(std::move(use));
  }
  return uses;
}

absl::StatusOr<TargetConverter> TargetConverter::Create(const v1::Schema& from, const v1::Schema& to) {
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout from_layout, records::RecordLayout::Create(from));
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout to_layout, records::RecordLayout::Create(to));
  TargetConverter converter(std::move(from_layout), std::move(to_layout));
  for (const v1::Target& target : to.targets()) {
    const auto source = std::find_if(from.targets().begin(), from.targets().end(),
                                     [&](const v1::Target& other) { return other.name() == target.name(); });
    converter.sources_.push_back(source == from.targets().end()
                                     ? std::nullopt
                                     : std::optional<std::size_t>(source - from.targets().begin()));
  }
  return converter;
}

absl::Status TargetConverter::Convert(v1::RecordBlock* block) {
  for (std::string& bytes : *block->mutable_records()) {
    ABSL_ASSIGN_OR_RETURN(bytes, Converted(bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TargetConverter::Converted(const std::string& bytes) {
  const absl::StatusOr<records::RecordView> record =
      records::RecordView::Parse(from_, std::as_bytes(std::span(bytes)));
  if (!record.ok()) return absl::InvalidArgumentError(record.status().message());
  records::RecordGraph reader(from_, from_);
  records::GraphView graph = reader.Of(*record);
  fields_.clear();
  values_.clear();
  std::string_view targets;
  for (std::size_t k = 0; k < graph.fields.size(); ++k) {
    (from_.fields()[k].name == records::kTargetField ? targets : fields_.emplace_back()) = graph.fields[k];
  }
  TakeTargets(targets);
  if (const std::optional<std::size_t> place = to_.FindField(records::kTargetField)) {
    fields_.insert(fields_.begin() + static_cast<std::ptrdiff_t>(*place), values_);
  }
  graph.fields = fields_;
  std::string converted;
  ABSL_RETURN_IF_ERROR(records::EncodeRecord(to_, graph, converted));
  return converted;
}

// `values` are the bytes of the target field of a file.
void TargetConverter::TakeTargets(std::string_view values) {
  for (const std::optional<std::size_t>& source : sources_) {
    const double value = source ? ValueAt(values.data() + *source * sizeof(double)) : kMissing;
    values_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
}

}  // namespace packtrain::ingest
