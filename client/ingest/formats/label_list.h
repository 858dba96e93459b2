// The labels of one graph, whose texts become a part of the graph: for readers whose records do not outlast a
// call.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_LABEL_LIST_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_LABEL_LIST_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

// Used by one thread.
class LabelList {
 public:
  void Add(std::string_view name, std::string_view text, bool structural = false);
  // A cell of another file than the graph's; `file` outlasts the graph.
  void AddCell(std::string_view name, std::string_view text, std::string_view file, std::uint64_t line);
  // A column that the source declares to be a target.
  void AddTarget(std::string_view name, std::string_view text, std::string_view unit);
  // A list of so many rows.
  void AddArray(std::string_view name, std::uint64_t rows);
  void AddObject(std::string_view name);
  // The source declares the label that was added last to be a target.
  void DeclareLast() { labels_.back().is_target = true; }

  // Moves all of them to a graph.
  void MoveTo(SourceGraph* graph);

 private:
  // Keeps what the views of the label show.
  void Append(const Label& label);

  std::vector<Label> labels_;  // whose views have the right lengths only
  std::vector<char> text_;     // names, texts and units, end to end
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_LABEL_LIST_H_
