#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {
namespace {

FieldValues EmptyValuesOf(v1::DataType type) {
  switch (type) {
    case v1::DATA_TYPE_U8:
      return std::vector<std::uint8_t>();
    case v1::DATA_TYPE_U16:
      return std::vector<std::uint16_t>();
    case v1::DATA_TYPE_I32:
      return std::vector<std::int32_t>();
    case v1::DATA_TYPE_I64:
      return std::vector<std::int64_t>();
    case v1::DATA_TYPE_F64:
      return std::vector<double>();
    case v1::DATA_TYPE_U32:
      return std::vector<std::uint32_t>();
    case v1::DATA_TYPE_U64:
      return std::vector<std::uint64_t>();
    default:
      return std::vector<float>();
  }
}

}  // namespace

SourceGraph::SourceGraph(const GraphLayout& layout) : words(layout.fields.size()) {
  for (const GraphField& field : layout.fields) fields.push_back(EmptyValuesOf(field.data_type));
}

void SourceGraph::Clear() {
  id.clear();
  title.clear();
  id_line = 0;
  remark.clear();
  split.clear();
  n_node = 0;
  for (FieldValues& values : fields) {
    std::visit([](auto& elements) { elements.clear(); }, values);
  }
  senders.clear();
  receivers.clear();
  labels.clear();
  for (WordRows& rows : words) {
    rows.text.clear();
    rows.ends.clear();
  }
  text.clear();
}

}  // namespace packtrain::ingest
