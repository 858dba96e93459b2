// One structure as it was read.
#ifndef PACKTRAIN_CLIENT_INGEST_FRAME_H_
#define PACKTRAIN_CLIENT_INGEST_FRAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/ingest/formats/extxyz_comment.h"

namespace packtrain::ingest {

// Made to be read into again and again, so that reading allocates nothing. Not copied: `pairs` are views.
struct Frame {
  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  std::uint64_t number = 0;  // in its file, from 1
  std::uint64_t line = 0;    // of the atom count
  std::string id;
  std::vector<std::uint8_t> z;
  std::vector<float> pos;  // [atoms, 3], angstrom
  std::optional<PeriodicCell> cell;
  std::string comment;
  std::vector<KeyValue> pairs;  // of `comment`
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FRAME_H_
