#include "client/ingest/seal_description.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/ingest/text.h"

namespace packtrain::ingest {
namespace {

// Of what is kept beside a data set about its origin; the server takes somewhat more.
constexpr std::size_t kMaxSourceBytes = 128 << 10;
constexpr std::size_t kMaxCommandBytes = 16 << 10;

// As many as a description of a data set may hold, the others as one.
void AddSources(const std::vector<v1::SourceFile>& sources, v1::Lineage* lineage) {
  auto source = sources.begin();
  for (; source != sources.end() && lineage->ByteSizeLong() < kMaxSourceBytes; ++source) {
    *lineage->add_sources() = *source;
  }
  if (source == sources.end()) return;
  v1::SourceFile& rest = *lineage->add_sources();
  rest.set_name(absl::StrCat("and ", sources.end() - source, " more files"));
  for (; source != sources.end(); ++source) rest.set_bytes(rest.bytes() + source->bytes());
}

// Ids that a split file may name though no such graph is stored. (Of a duplicate, the first one is.)
std::set<std::string> IdsLeftOut(const Ledger& ledger) {
  std::set<std::string> ids;
  for (const RefusedGraph& graph : ledger.refused()) {
    if (graph.reason != "duplicate_id") ids.insert(graph.id);
  }
  return ids;
}

void AddIds(const std::vector<std::string>& ids, const std::set<std::string>& left_out,
            google::protobuf::RepeatedPtrField<std::string>* out) {
  for (const std::string& id : ids) {
    if (!left_out.contains(id)) *out->Add() = id;
  }
}

void SetSplit(const RandomSplit& split, v1::SplitFractions* fractions) {
  fractions->set_train_permille(split.permille[0]);
  fractions->set_val_permille(split.permille[1]);
  fractions->set_test_permille(split.permille[2]);
  fractions->set_seed(split.seed);
}

void SetSplit(const SplitLists& lists, const Ledger& ledger, v1::SplitByIds* by_ids) {
  const std::set<std::string> left_out = IdsLeftOut(ledger);
  AddIds(lists.train, left_out, by_ids->mutable_train());
  AddIds(lists.val, left_out, by_ids->mutable_val());
  AddIds(lists.test, left_out, by_ids->mutable_test());
}

}  // namespace

void DescribeSplits(const ImportOptions& options, const std::optional<SplitLists>& lists, const Ledger& ledger,
                    v1::SealDatasetRequest* seal) {
  if (options.random_split) SetSplit(*options.random_split, seal->mutable_fractions());
  if (lists) SetSplit(*lists, ledger, seal->mutable_by_ids());
}

void AddPositionsLeft(const google::protobuf::RepeatedField<std::uint32_t>& graphs,
                      std::span<const std::uint64_t> left_out, std::uint64_t base,
                      google::protobuf::RepeatedField<std::uint32_t>* positions) {
  for (const std::uint32_t graph : graphs) {
    const auto before = std::ranges::lower_bound(left_out, std::uint64_t{graph});
    if (before != left_out.end() && *before == graph) continue;
    const auto taken_out = static_cast<std::uint64_t>(before - left_out.begin());
    positions->Add(static_cast<std::uint32_t>(base + graph - taken_out));
  }
}

void DescribeOwnSplits(const v1::SplitByIndex& splits, const Ledger& ledger, v1::SealDatasetRequest* seal) {
  std::vector<std::uint64_t> refused;
  for (const RefusedGraph& graph : ledger.refused()) {
    if (graph.position) refused.push_back(*graph.position);
  }
  std::ranges::sort(refused);
  v1::SplitByIndex& stored = *seal->mutable_by_index();
  AddPositionsLeft(splits.train(), refused, 0, stored.mutable_train());
  AddPositionsLeft(splits.val(), refused, 0, stored.mutable_val());
  AddPositionsLeft(splits.test(), refused, 0, stored.mutable_test());
}

v1::Lineage LineageOf(const std::vector<v1::SourceFile>& sources, const ImportOptions& options) {
  v1::Lineage lineage;
  AddSources(sources, &lineage);
  // For people; a message holds no other text.
  if (options.command.size() <= kMaxCommandBytes && IsUtf8(options.command))
    lineage.set_command(options.command);
  lineage.set_program_version(options.program_version);
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  lineage.set_imported_at_ms(std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count());
  return lineage;
}

}  // namespace packtrain::ingest
