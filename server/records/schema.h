// What a schema must satisfy before a graph is stored under it.
#ifndef PACKTRAIN_SERVER_RECORDS_SCHEMA_H_
#define PACKTRAIN_SERVER_RECORDS_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::records {

inline constexpr int kMaxFields = 64;
inline constexpr int kMaxTargets = 1024;
inline constexpr std::size_t kMaxFieldNameBytes = 64;
inline constexpr std::size_t kMaxTextBytes = 256;  // a unit, a target's name, the edge builder's text
inline constexpr std::uint64_t kMaxVocabularyBytes = 16 << 20;  // of all vocabularies, as messages
inline constexpr int kMaxDims = 8;
inline constexpr std::uint64_t kMaxRowElements = 1 << 16;

// Fields with a meaning of their own.
inline constexpr std::string_view kTargetField = "y";
inline constexpr std::string_view kClassField = "z";
// Of renumbered graphs alone: the index of each node in the source. A record is too small for more nodes than
// its data type counts.
inline constexpr std::string_view kSourceNodeField = "source_node";

// INVALID_ARGUMENT, naming the field and the rule it breaks:
//  - at least one field, names unique, of [a-z0-9_], none of the names of a batch's own sections;
//  - scope and data type stated; dimensions above 0, their product at most kMaxRowElements;
//  - `y` is a graph field of F64 with one dimension, the number of targets; and there are targets with `y`
//    alone, their names unique and not empty;
//  - `z` is a node field of one U8 or U16;
//  - edge fields only where edges are stored; with EDGE_RULE_FULL `edges` is "full";
//  - `renumbered` only where edges are stored, with a node field `source_node` of one I32;
//  - a vocabulary belongs to a field of one U8, U16 or I32; its words differ, with a number of graphs for each
//    or none; all take at most kMaxVocabularyBytes.
absl::Status CheckSchema(const v1::Schema& schema);

// Whether the nodes of graphs are not numbered as their source has them.
inline bool IsRenumbered(const v1::Schema& schema) {
  return schema.renumbered() != v1::RENUMBERING_UNSPECIFIED;
}

// Elements of one row. The schema must have passed CheckSchema.
std::uint64_t RowElements(const v1::Field& field);

// Removes the vocabularies of fields that the schema lacks, for schemas that are made of another one's fields.
void DropStrayVocabularies(v1::Schema& schema);

// The schema as bytes for a content hash, without the counts of its vocabularies: equal for equal schemas,
// different for different ones, whatever wrote the protobuf message.
std::string CanonicalSchema(const v1::Schema& schema);

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_SCHEMA_H_
