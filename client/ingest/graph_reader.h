// The contract of a file format: it gives graphs one by one, or the reason why a record is none.
//
// An import opens one reader for each file and reads it to its end:
//
//   SourceGraph graph(reader->layout());
//   const absl::StatusOr<bool> more = reader->Next(&graph);  // true: a graph; false: the end of the file
//   if (more.ok() && *more) builder.Add(graph, targets, origin);
//   if (IsRefusal(more.status())) ledger.AddRefused(...);    // the next call goes on behind the record
//
// A molecule is `z`, `pos` and labels; a crystal has `cell` and `pbc` as well; a bond graph brings edges with a
// field such as `edge_type`; a program is tokens as a node field, `is_slot`, `is_candidate` and typed edges.
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_READER_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// One named array of a graph, as v1::Field.
struct GraphField {
  std::string name;
  v1::FieldScope scope = v1::FIELD_SCOPE_UNSPECIFIED;
  v1::DataType data_type = v1::DATA_TYPE_UNSPECIFIED;
  std::vector<std::uint32_t> dims = {};  // of one row; {} is a scalar, {3} a vector
  std::string unit = {};
  // What a record with this field has, in the words of its format, such as "Lattice". The graphs of a data set
  // all have such a field or all lack it; a node or graph field. Empty: every record has the field.
  std::string optional_noun = {};
  // A graph that lacks the optional graph field means zeros, as a molecule among crystals has no cell: it is
  // stored with zeros where other graphs have the field.
  bool zero_where_absent = false;
  // The rows are ids of words (vocabularies.h) and one u8, u16 or i32 each.
  bool words = false;
  // What its values stand for, where the format fixes that: value k for names[k]. One integer a row.
  std::vector<std::string> names = {};

  bool operator==(const GraphField&) const = default;
};

// What the graphs of one reader hold.
struct GraphLayout {
  std::vector<GraphField> fields;
  // What the schema calls the edges that records bring, such as "bonds"; empty: they bring none.
  std::string edges = {};
  // The records' edges join nodes that are renumbered so, with field `source_node`.
  v1::Renumbering renumbered = v1::RENUMBERING_UNSPECIFIED;
  std::string record_word = "record";  // what messages call a record, such as "frame"
  // Labels are the cells of a table's row, which has all of them each time, empty ones too: a column becomes a
  // target where more than half of its cells are numbers. Otherwise they are keys, which a record has or lacks.
  bool labels_are_cells = false;
  // How many of the fields the schema has in front of that of the targets; the largest number: all.
  std::size_t fields_before_targets = std::numeric_limits<std::size_t>::max();

  bool operator==(const GraphLayout&) const = default;
};

// The rows of one field, end to end, in the field's data type.
using FieldValues = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>,
                                 std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<float>,
                                 std::vector<double>, std::vector<std::uint32_t>, std::vector<std::uint64_t>>;

// What a label is to a record. All but words are without text, and no targets; the import tells of them.
enum class LabelForm : std::uint8_t {
  kWord,     // a number, truth or text
  kPerNode,  // values of each node or edge that are not stored, such as a column `forces`
  kArray,    // a list of so many `rows`; values of nodes or edges where every graph has one for each
  kObject,   // names with values
};

// A named word of a record, such as `energy=-1.5` in a comment or a cell of a table: a target, where it is a
// number and wanted. Views, valid until the reader reads on.
struct Label {
  std::string_view name;
  std::string_view text;
  // Says what the graph is, and is stored as such: the import does not tell of it, and it is a target only
  // where its name was asked for.
  bool structural = false;
  LabelForm form = LabelForm::kWord;
  std::string_view unit = {};  // that the format or the record states
  // The source says that it is a target, which it stays where it is missing in every graph.
  bool is_target = false;
  // Describes the record or how it was measured, such as the R factor of a crystal: a target only where its
  // name was asked for.
  bool descriptive = false;
  // It may be no label, as in `g norm= 0.01`.
  // Where it is a number, it is a target only if its name was asked for.
  bool ambiguous = false;
  std::uint64_t rows = 0;  // of kArray
  // Where it stands: the file, where that is another one than its record's, as in a folder, and the line, where
  // that is not the record's first.
  std::string_view file = {};
  std::uint64_t line = 0;
};

// Texts, end to end.
struct WordRows {
  std::string text;
  std::vector<std::size_t> ends;  // of each, in `text`
};

// One record as it was read. Made to be read into again and again, so that reading allocates nothing.
struct SourceGraph {
  // Empty, with values of the right type for each field.
  explicit SourceGraph(const GraphLayout& layout);

  // Empties all but the place; for the reader.
  void Clear();

  // The values of field k of the layout; T is the type of its elements.
  template <typename T>
  std::vector<T>& Values(std::size_t k) {
    return std::get<std::vector<T>>(fields[k]);
  }

  std::string file;          // that the record begins in, where the reader reads a folder; empty: the reader's
  std::uint64_t record = 0;  // in its file, from 1
  std::uint64_t line = 0;    // on which the record begins, from 1; 0 where the file has no lines
  std::string id;            // that the source gives the graph; empty: none. UTF-8 is not promised
  std::string title;  // what may name the graph where the source gives no id, as the first word of a comment
  std::uint64_t id_line = 0;  // on which id and title stand; 0: on `line`
  std::string split;          // as the source calls it; empty: none
  std::uint32_t n_node = 0;
  std::vector<FieldValues> fields;       // by field of the layout; an optional field that is absent is empty
  std::vector<std::uint32_t> senders;    // as long as `receivers`; empty where records bring no edges
  std::vector<std::uint32_t> receivers;  // endpoints are local to the graph
  std::vector<Label> labels;             // in the order of the record
  std::string remark;  // a word for the ledger on a graph that is stored, such as "unsanitized"; empty: none
  std::vector<WordRows> words;  // by field, of those that hold words, in a first reading (vocabularies.h)
  std::vector<char> text;       // of labels whose text the reader makes itself; they may be views of it
};

// Reads the records of one file. Memory is bounded by that of one record. Used by one thread.
class GraphReader {
 public:
  virtual ~GraphReader() = default;

  // The same at any time.
  virtual const GraphLayout& layout() const = 0;

  // Reads the next record into `graph`, which was made for this layout; false at the end of the file, and then
  // ever after. A refusal (refusal.h) says why a record is no graph; it is at the place of what is wrong
  // (RefusedAt), or without one at that of the record, and `graph` has the record's number, line and the id
  // that it would have had. A further call goes on behind the record, or is false where what follows cannot be
  // understood: then the refusal is one of LeavingRest. A file without a record is refused as "empty_file".
  // What is not UTF-8, endpoints out of range, NaN and infinity in fields may be left to the server. Any other
  // error ends the import.
  virtual absl::StatusOr<bool> Next(SourceGraph* graph) = 0;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_READER_H_
