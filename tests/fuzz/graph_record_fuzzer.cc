// A stored record is any bytes under any schema: a message with the schema, then the record.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "server/edges/working_memory.h"
#include "server/records/dataset_content.h"
#include "server/records/edge_order.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"
#include "server/records/record_check.h"
#include "server/records/record_graph.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"

namespace {

using packtrain::fuzz::Expect;
using packtrain::records::GraphValidator;
using packtrain::records::GraphView;
using packtrain::records::RecordCheck;
using packtrain::records::RecordGraph;
using packtrain::records::RecordLayout;
using packtrain::records::RecordView;

// Reads every byte, so that the address sanitizer sees each.
std::uint8_t Fold(std::span<const std::byte> bytes) {
  std::uint8_t sum = 0;
  for (const std::byte byte : bytes) sum = static_cast<std::uint8_t>(sum + std::to_integer<std::uint8_t>(byte));
  return sum;
}

void ReadAll(const RecordLayout& layout, const RecordView& record) {
  [[maybe_unused]] volatile std::uint8_t sum = 0;
  for (std::size_t k = 0; k < layout.fields().size(); ++k) sum = Fold(record.field(k));
  sum = Fold(record.senders());
  sum = Fold(record.receivers());
  sum = Fold(std::as_bytes(std::span(record.source_id())));
  Expect(record.n_node() > 0 && record.bandwidth() < record.n_node(), "bandwidth is below the number of nodes");
  if (!layout.stores_edges()) return;
  Expect(record.senders().size() == std::size_t{record.n_edge()} * record.endpoint_bytes(),
         "every edge has a sender");
}

// A record is taken as it is where the same would be made of its graph.
void CheckBothWays(const RecordLayout& layout, const RecordView& record) {
  const GraphValidator validator(layout, packtrain::v1::MISSING_TARGET_POLICY_NAN);
  RecordGraph graphs(layout, layout);
  const GraphView graph = graphs.Of(record);
  const bool valid = !validator.Check(graph).has_value();
  std::string made;
  packtrain::edges::WorkingMemory memory;
  packtrain::records::EdgeOrder order(layout, memory);
  const bool made_again = valid && EncodeRecord(layout, order.Sorted(graph).value(), made).ok() &&
                          std::ranges::equal(std::as_bytes(std::span(made)), record.bytes());
  Expect(RecordCheck(layout, validator).IsAsStored(record) == made_again, "equal graphs have equal records");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packtrain::fuzz::Input input(data, size);
  packtrain::v1::Schema schema;
  const std::string_view message = input.Message();
  if (!schema.ParseFromArray(message.data(), static_cast<int>(message.size()))) return 0;
  const absl::StatusOr<RecordLayout> layout = RecordLayout::Create(schema);
  if (!layout.ok()) return 0;
  const std::string_view bytes = input.Rest();
  const std::span<const std::byte> record = std::as_bytes(std::span(bytes));
  const absl::StatusOr<RecordView> view = RecordView::Parse(*layout, record);
  if (view.ok()) {
    ReadAll(*layout, *view);
    CheckBothWays(*layout, *view);
  }
  absl::StatusOr<packtrain::records::DatasetContent> content =
      packtrain::records::DatasetContent::Create(schema);
  Expect(content->Add(record).ok() == view.ok(), "what parses can be sealed");
  return 0;
}
