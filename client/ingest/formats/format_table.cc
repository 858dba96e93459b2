#include "client/ingest/formats/format_table.h"

#include <algorithm>
#include <array>

#include "client/ingest/formats/extxyz_reader.h"
#include "client/ingest/formats/native_source.h"
#include "client/ingest/formats/qm9_xyz_reader.h"

namespace packtrain::ingest {

std::span<const Format> Formats() {
  static const std::array kFormats = {
      Format{.name = "extxyz",
             .help = "extended xyz and plain multi-frame xyz, gzip too",
             .extensions = {".xyz", ".extxyz"},
             .flags = {kSpeciesAreNumbers},
             .open_graphs = OpenExtxyz},
      Format{.name = "qm9-xyz",
             .help = "the files of QM9 as published, with their 15 properties",
             .extensions = {".xyz"},
             .open_graphs = OpenQm9Xyz},
      Format{.name = "native",
             .help = "a file of `packtrain dataset export`, with its own splits and, without --name, its name; "
                     "or parts "
                     "that `packtrain import ... -o PART` made, to be joined in this order",
             .open_blocks = NativeSource::Open},
  };
  return kFormats;
}

const Format* FindFormat(std::string_view name) {
  const std::span<const Format> formats = Formats();
  const auto row =
      std::find_if(formats.begin(), formats.end(), [&](const Format& format) { return format.name == name; });
  return row == formats.end() ? nullptr : &*row;
}

}  // namespace packtrain::ingest
