// From frames to the blocks of graphs that a server takes.
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_BLOCK_BUILDER_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_BLOCK_BUILDER_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "client/ingest/frame.h"
#include "client/ingest/ledger.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// What the frames of one import have in common.
struct FrameLayout {
  bool periodic = false;             // every frame has a cell
  std::vector<std::string> targets;  // columns of `y`
};

// Node fields `z` (u8) and `pos` (f32 [3], angstrom); graph fields `cell` (f32 [3, 3], angstrom) and `pbc`
// (u8 [3]) where the frames are periodic, and `y` (f64 [targets]) where there are targets. Edges: full.
v1::Schema SchemaOf(const FrameLayout& layout);

// Gathers frames into blocks of about `block_bytes`. Used by one thread.
class GraphBlockBuilder {
 public:
  explicit GraphBlockBuilder(const FrameLayout& layout, std::size_t block_bytes = 1 << 20);

  // `targets` has a value for each target of the layout; the frame a cell where the layout is periodic.
  void Add(const Frame& frame, std::span<const double> targets, const Origin& origin);

  bool empty() const { return block_.source_ids().empty(); }
  // It is time to take the block.
  bool full() const { return bytes_ >= block_bytes_; }
  // Gives the block away and begins a new one.
  v1::GraphBlock Take();

 private:
  void BeginBlock();
  std::string* AddColumn(const char* field);

  const FrameLayout layout_;
  const std::size_t block_bytes_;
  std::size_t bytes_ = 0;
  v1::GraphBlock block_;
  // Into `block_`; null where the layout has no such field.
  std::string* z_ = nullptr;
  std::string* pos_ = nullptr;
  std::string* cell_ = nullptr;
  std::string* pbc_ = nullptr;
  std::string* y_ = nullptr;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_BLOCK_BUILDER_H_
