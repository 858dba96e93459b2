// A stored record is any bytes under any schema: a message with the schema, then the record.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "server/records/dataset_content.h"
#include "server/records/graph_record.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"

namespace {

using packtrain::fuzz::Expect;
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
  if (view.ok()) ReadAll(*layout, *view);
  absl::StatusOr<packtrain::records::DatasetContent> content =
      packtrain::records::DatasetContent::Create(schema);
  Expect(content->Add(record).ok() == view.ok(), "what parses can be sealed");
  return 0;
}
