#include "tests/client/ingest/formats/read_file.h"

#include <gmock/gmock.h>

#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/block_sink.h"
#include "client/ingest/import_pipeline.h"
#include "client/ingest/origin.h"
#include "proto/base/status_macros.h"
#include "server/records/block_reader.h"
#include "server/records/edge_filler.h"
#include "server/records/graph_record.h"

namespace packtrain::testing {
namespace {

std::string ContentOf(const records::GraphView& graph) {
  std::string content = absl::StrCat(graph.n_node, " nodes, ", graph.n_edge, " edges\n");
  for (const std::string_view rows : graph.fields)
    absl::StrAppend(&content, rows.size(), ":", std::string(rows));
  for (const std::uint32_t sender : graph.senders) absl::StrAppend(&content, " ", sender);
  for (const std::uint32_t receiver : graph.receivers) absl::StrAppend(&content, " ", receiver);
  return content;
}

// Takes blocks apart into graphs.
class KeepingSink : public ingest::BlockSink {
 public:
  absl::Status Begin(const v1::ImportHeader& header) override {
    ABSL_ASSIGN_OR_RETURN(const v1::Schema schema, header.build_edges()
                                                       ? records::SchemaOfBuiltEdges(header.schema())
                                                       : absl::StatusOr<v1::Schema>(header.schema()));
    ABSL_ASSIGN_OR_RETURN(records::RecordLayout layout, records::RecordLayout::Create(schema));
    layout_.emplace(std::move(layout));
    own_edges_ = !header.build_edges();
    graphs_.clear();
    return absl::OkStatus();
  }

  absl::Status Write(ingest::Block block) override {
    return std::visit([this](const auto& content) { return Keep(content); }, block);
  }

  absl::StatusOr<v1::ImportGraphsResponse> Finish() override { return v1::ImportGraphsResponse(); }

  std::vector<SentGraph> TakeGraphs() { return std::move(graphs_); }

 private:
  absl::Status Keep(const v1::GraphBlock& block) {
    absl::StatusOr<records::BlockReader> reader = records::BlockReader::Open(*layout_, block, own_edges_);
    if (!reader.ok()) return absl::InternalError(reader.status().message());
    while (reader->Next()) {
      graphs_.push_back({std::string(reader->graph().source_id), ContentOf(reader->graph())});
    }
    return absl::OkStatus();
  }

  absl::Status Keep(const ingest::PackedRecords& packed) {
    v1::RecordBlock block;
    if (!block.ParseFromString(packed.bytes.substr(packed.begin))) return absl::InternalError("no block");
    return Keep(block);
  }

  absl::Status Keep(const v1::RecordBlock& block) {
    for (const std::string& bytes : block.records()) {
      const absl::StatusOr<records::RecordView> record =
          records::RecordView::Parse(*layout_, std::as_bytes(std::span(bytes)));
      if (!record.ok()) return absl::InternalError(record.status().message());
      graphs_.push_back({std::string(record->source_id()), bytes});
    }
    return absl::OkStatus();
  }

  std::optional<records::RecordLayout> layout_;
  bool own_edges_ = false;
  std::vector<SentGraph> graphs_;
};

// What is refused as a whole, and has no line that would be wrong.
const std::set<std::string_view> kOfWholeFiles = {
    "archive",           "corrupt_archive", "corrupt_gzip",      "corrupt_xz",        "duplicate_member",
    "empty_archive",     "empty_file",      "encrypted_archive", "git_lfs_pointer",   "member_name",
    "missing_file",      "no_folder",       "no_members",        "several_data_sets", "too_many_members",
    "truncated_archive", "truncated_gzip",  "truncated_xz",      "unpacked_limit",    "unread_packing",
    "unsafe_name",       "utf16_text",      "archive_link",      "xz_memory",         "zip_from_pipe"};

// The place of a refusal is whole, and its message begins with it.
void ExpectPlaced(const ingest::RefusedGraph& graph, bool has_lines) {
  const ingest::Origin& place = graph.origin;
  const bool is_whole = ingest::IsWholeFile(place);
  EXPECT_FALSE(place.file.empty()) << graph.message;
  EXPECT_TRUE(!is_whole || kOfWholeFiles.contains(graph.reason)) << graph.message;
  EXPECT_TRUE(is_whole || !has_lines || place.line > 0) << graph.message;
  EXPECT_TRUE(is_whole || place.record > 0 || graph.id.empty()) << graph.message;
  EXPECT_THAT(graph.message, ::testing::StartsWith(
                                 ingest::RefusalText(ingest::PlaceText(place), is_whole ? "" : graph.id, "")));
  EXPECT_EQ(graph.leaves_rest, graph.message.ends_with("; nothing is read from there on")) << graph.message;
}

}  // namespace

std::vector<std::string> ReadResult::Ids() const {
  std::vector<std::string> ids;
  for (const SentGraph& graph : graphs) ids.push_back(graph.id);
  return ids;
}

ReadResult ReadBy(const ingest::Format& format, ingest::ImportOptions options) {
  std::ostringstream progress;
  KeepingSink sink;
  ingest::ImportPipeline pipeline(format, std::move(options));
  const absl::Status status = pipeline.Run(sink, {progress}).status();
  for (const ingest::RefusedGraph& graph : pipeline.ledger().refused()) {
    ExpectPlaced(graph, /*has_lines=*/format.open_blocks == nullptr);
  }
  return {status, sink.TakeGraphs(), pipeline.ledger()};
}

}  // namespace packtrain::testing
