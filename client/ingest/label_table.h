// What the labels of all graphs of an import are, and which of them are targets by default.
//
// A key is a target if it is a number in every graph; where targets may be missing, if it is a number in some
// graph and missing or a number in all others. Keys go by the number of graphs that have them, then by name,
// y_2 before y_10. A column of a table is a target if more than half of its cells that are not empty are
// numbers. Columns keep their order. What the source itself declares to be a target is one whatever it is. What
// only describes the record, or is not clearly a label, is none unless its name is asked for. So the targets
// depend on the whole input, and not on which graph comes first.
//
// Truths are the numbers 1 and 0 in every format. An array is no number, whatever its length, and neither is
// what a graph has twice with different values.
#ifndef PACKTRAIN_CLIENT_INGEST_LABEL_TABLE_H_
#define PACKTRAIN_CLIENT_INGEST_LABEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/kept_labels.h"

namespace packtrain::ingest {

// What a label is in a graph: a number, nothing, or anything else.
struct LabelText {
  enum class Kind : std::uint8_t { kNumber, kMissing, kText, kArray, kObject, kSeveral, kPerNode };

  Kind kind = Kind::kMissing;
  double number = 0;  // of kNumber; may be infinite
};

// An empty text, "-", "None", "N/A", "#N/A" and "NaN", however they are capitalized, are missing. "T", "F",
// "true" and "false", the last two however they are capitalized, are 1 and 0. Several numbers between blanks,
// or between commas in brackets, are an array.
LabelText ReadLabelText(std::string_view text);

// Reasons why a label is no target.
inline constexpr char kText[] = "text";
inline constexpr char kArray[] = "array";
inline constexpr char kObject[] = "object";
inline constexpr char kSeveral[] = "several";
inline constexpr char kPerNode[] = "per_node";

// Why no target can have this name: "no_name" (it is empty), "long_name" (more bytes than a schema takes),
// "not_utf8"; empty: one can.
std::string_view WhyNoTargetName(std::string_view name);
// A name as the import tells of it: in UTF-8, and cut where it is too long for a target.
std::string ShownName(std::string_view name);

// What an import tells of a label.
struct LabelUse {
  std::string name;          // as ShownName has it
  std::uint64_t found = 0;   // graphs that are stored and have it
  std::uint64_t graphs = 0;  // of so many that are stored
  bool used = false;         // it is a target
  // Why it is none: "text", "array", "object" or "several" values (in some graph; more than one of these
  // reasons: the first one), "empty" (missing in every graph), "missing_in_some" (--missing-target nan makes it
  // one), "not_named" by --targets, "joined" (targets are those of --join), "per_node" (values of nodes or
  // edges, which are not stored), "descriptive", "ambiguous" (--targets makes it one), or what WhyNoTargetName
  // says of its name.
  std::string reason = {};
  // Of those found, the graphs in which it is no number, and of all that were read the first of these, as
  // "FILE:LINE: frame 3 (ID): 'WORD'"; empty: it is a number in all.
  std::uint64_t no_numbers = 0;
  std::string first_no_number = {};
  // Of a join of files: which of them have no such target, by name. Empty: all have it, or there is no join.
  std::vector<std::string> lacking_files = {};

  bool operator==(const LabelUse&) const = default;
};

// Used by one thread.
class LabelTable {
 public:
  // A label of the graph that was read last.
  struct Reading {
    std::size_t label;  // its place in this table
    LabelText text;
    std::string_view word;   // as it was read; valid as long as the graph's labels
    std::string_view other;  // of kSeveral: the first word that is another value than `word`
    std::string_view file;   // as Label::file and Label::line
    std::uint64_t line;
  };

  explicit LabelTable(bool allow_missing) : allow_missing_(allow_missing) {}

  // Forgets what was counted, not the labels.
  void Restart();

  // Reads the labels of a graph, one of each name: of values of the graph and values of its nodes, those that
  // come first. Labels beyond 10,000 names are not read.
  std::span<const Reading> Read(const SourceGraph& graph, bool labels_are_cells);
  // Says where a label was read, as "FILE:LINE: frame 3 (ID)".
  using PlaceOfReading = absl::FunctionRef<std::string(const Reading&)>;
  // Counts the labels that were read last.
  void Count(PlaceOfReading place);

  // The place of a name; nullopt: no graph has it so far.
  std::optional<std::size_t> Find(std::string_view name) const;

  // Whether a label is a target, judged by the graphs counted so far.
  bool IsTarget(std::size_t label) const;
  // Names of the targets, in their order.
  std::vector<std::string> Targets() const;

  std::size_t size() const { return labels_.size(); }
  const std::string& name(std::size_t label) const { return labels_[label].name; }
  bool is_structural(std::size_t label) const { return labels_[label].is_structural; }
  bool is_declared(std::size_t label) const { return labels_[label].is_declared; }
  // Whether --targets can make it one.
  bool can_be_named(std::size_t label) const {
    return labels_[label].why_no_name.empty() && !labels_[label].is_structural;
  }
  // Graphs in which it is a number, of those counted.
  std::uint64_t numbers(std::size_t label) const { return labels_[label].numbers; }

  // What is told of a label that `kept` was found of in `graphs`; `used` is IsTarget.
  LabelUse UseOf(std::size_t label, const KeptLabels::Count& kept, std::uint64_t graphs) const;

 private:
  struct CountedLabel {
    std::string name;
    bool is_cell = false;
    bool is_structural = false;
    bool is_descriptive = false;
    bool is_ambiguous = false;          // in some graph in which it is a number
    bool is_declared = false;           // as a target
    std::string_view why_no_name = {};  // of WhyNoTargetName
    std::uint64_t numbers = 0;
    std::uint64_t texts = 0;
    std::uint64_t objects = 0;
    std::uint64_t arrays = 0;
    std::uint64_t severals = 0;
    std::uint64_t per_nodes = 0;
    std::string first_no_number = {};
    std::uint64_t last_graph = 0;  // by number of calls of Read
    std::size_t last_reading = 0;  // in that graph

    std::uint64_t no_numbers() const { return texts + objects + arrays + severals + per_nodes; }
  };

  // The place of a label that is the k-th of its graph; nullopt beyond the limit.
  std::optional<std::size_t> PlaceOf(const Label& label, std::size_t k, bool is_cell);
  std::optional<std::size_t> Add(const Label& label, bool is_cell);
  // Of a label that the graph has once more.
  static void AddRepeated(const Label& label, LabelText text, Reading* reading);
  static std::uint64_t* CounterOf(LabelText::Kind kind, CountedLabel* label);
  // A reason of LabelUse, or "structural"; empty: it is one.
  std::string_view WhyNoTarget(const CountedLabel& label) const;

  const bool allow_missing_;
  std::uint64_t graphs_ = 0;
  std::uint64_t reads_ = 0;
  std::vector<CountedLabel> labels_;
  absl::flat_hash_map<std::string, std::size_t> place_of_;
  std::vector<std::size_t> last_places_;  // of the labels of the graph before, since graphs are alike
  std::vector<Reading> readings_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_LABEL_TABLE_H_
