// The file formats that `packtrain import` reads, one row each.
//
//   const Format* format = FindFormat("extxyz");
//   if (format == nullptr) ...
//   ImportPipeline pipeline(*format, options);
//
// A new format is one file beside this one and its row in format_table.cc (client/ingest/README.md).
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_FORMAT_TABLE_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_FORMAT_TABLE_H_

#include <span>
#include <string_view>

#include "client/ingest/format.h"

namespace packtrain::ingest {

// In the order in which people are told of them.
std::span<const Format> Formats();

// Null: no format has this name.
const Format* FindFormat(std::string_view name);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_FORMAT_TABLE_H_
