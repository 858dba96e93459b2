#include "client/ingest/import_pipeline.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/ingest/block_feed.h"
#include "client/ingest/graph_import.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/error_details.h"
#include "proto/base/progress.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

RefusedGraph ToLedger(const v1::RefusedGraph& graph, const BlockSource& source) {
  Origin origin = ParseOrigin(graph.origin());
  if (graph.origin().empty()) origin = source.OriginOf(graph.position()).value_or(origin);
  const std::string text = RefusalText(PlaceText(origin), graph.source_id(), graph.message());
  return {std::move(origin), graph.source_id(), graph.reason(), text, graph.position()};
}

// What ended an import, with the place of the graph that is to blame where the sink did not know it.
absl::Status Located(const absl::Status& failure, const BlockSource& source) {
  const std::optional<std::uint64_t> position = ParseCount(base::MetadataOf(failure, "position"));
  const std::optional<Origin> origin = position ? source.OriginOf(*position) : std::nullopt;
  if (!origin) return failure;
  const absl::string_view rest = absl::StripPrefix(failure.message(), absl::StrCat("graph ", *position + 1));
  return WithMessage(failure, absl::StrCat(PlaceText(*origin), rest));
}

// Among the graphs sent, ascending.
std::vector<std::uint64_t> RefusedPositions(const Ledger& ledger) {
  std::vector<std::uint64_t> positions;
  for (const RefusedGraph& graph : ledger.refused()) {
    if (graph.position) positions.push_back(*graph.position);
  }
  std::ranges::sort(positions);
  return positions;
}

// Positions of graphs are known only where all refused ones are.
absl::Status CheckSplits(const BlockSource& source, const Ledger& ledger) {
  if (!source.has_own_splits() || ledger.unlisted() == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("of the graphs that were refused, ", ledger.unlisted(),
                   " are counted and not listed, so that it is not known which graphs the splits of the source "
                   "mean; --split-file and --split-permille split without them"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlockSource>> OpenSource(const Format& format, const ImportOptions& options) {
  if (format.open_blocks != nullptr) return format.open_blocks(options);
  return GraphImport::Create(format, options);
}

ImportPipeline::ImportPipeline(const Format& format, ImportOptions options)
    : format_(format), options_(std::move(options)) {}

absl::StatusOr<v1::ImportGraphsResponse> ImportPipeline::Run(BlockSink& sink, const ProgressDisplay& display) {
  ABSL_ASSIGN_OR_RETURN(source_, OpenSource(format_, options_));
  absl::StatusOr<v1::ImportGraphsResponse> staged = Send(sink, display);
  ledger_ = source_->ledger();
  if (!staged.ok()) return Located(staged.status(), *source_);
  TakeRefused(*staged);
  ledger_.SetLabels(source_->Labels(RefusedPositions(ledger_)));
  ABSL_RETURN_IF_ERROR(CheckSplits(*source_, ledger_));
  return staged;
}

absl::StatusOr<v1::ImportGraphsResponse> ImportPipeline::Send(BlockSink& sink, const ProgressDisplay& display) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const v1::ImportHeader header, source_->Begin());
    ABSL_RETURN_IF_ERROR(SendBlocks(header, sink, display));
    const std::string why = source_->WhyBeginAgain();
    if (why.empty()) return sink.Finish();
    display.out << "import: reads everything again, because " << why << '\n';
  }
}

absl::Status ImportPipeline::SendBlocks(const v1::ImportHeader& header, BlockSink& sink,
                                        const ProgressDisplay& display) {
  base::Progress progress(display.out, display.terminal, {"import", "graphs", source_->total_bytes()},
                          std::chrono::steady_clock::now);
  BlockFeed feed(*source_);
  ABSL_RETURN_IF_ERROR(sink.Begin(header));
  while (true) {
    ABSL_ASSIGN_OR_RETURN(std::optional<ReadBlock> next, feed.Next());
    if (!next) return absl::OkStatus();
    if (GraphsOf(next->block) > 0) {
      ABSL_RETURN_IF_ERROR(sink.Write(std::move(next->block)));
    }
    progress.Update(next->read, next->consumed_bytes);
  }
}

void ImportPipeline::TakeRefused(const v1::ImportGraphsResponse& staged) {
  std::map<std::string, std::uint64_t> unlisted(staged.refused_by_reason().begin(),
                                                staged.refused_by_reason().end());
  std::set<std::string> origins;
  for (const v1::RefusedGraph& graph : staged.refused()) {
    origins.insert(graph.origin());
    --unlisted[graph.reason()];
    ledger_.AddRefused(ToLedger(graph, *source_));
  }
  for (const auto& [reason, graphs] : unlisted) ledger_.AddUnlisted(reason, graphs);
  ledger_.DropRemarks(origins);
}

v1::SealDatasetRequest ImportPipeline::SealRequest(const v1::ImportGraphsResponse& staged,
                                                   const std::string& name) const {
  v1::SealDatasetRequest seal;
  source_->Describe(ledger_, &seal);
  seal.set_import_id(staged.import_id());
  if (!name.empty()) seal.set_name(name);
  return seal;
}

}  // namespace packtrain::ingest
