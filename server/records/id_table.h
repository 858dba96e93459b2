// Which source ids there are, and of which graph, however many and however long they are.
#ifndef PACKTRAIN_SERVER_RECORDS_ID_TABLE_H_
#define PACKTRAIN_SERVER_RECORDS_ID_TABLE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace packtrain::records {

// Holds 21 to 25 bytes an id. In place of the ids it keeps 128 bits of a hash, whose key is
// drawn anew for each table and told nobody: of 2^32 ids, the most there can be, the chance that any two meet
// is below 2^-64. Used by one thread.
class IdTable {
 public:
  IdTable();

  // Adds the next id, which must not be there, as that of graph size().
  void Add(std::string_view id);

  // The graph of this id; none where it was not added.
  std::optional<std::uint32_t> Find(std::string_view id) const;
  bool Contains(std::string_view id) const { return Find(id).has_value(); }

  std::uint64_t size() const { return hashes_.size(); }
  // Of memory.
  std::uint64_t memory_bytes() const;

 private:
  using Hash = std::array<std::uint64_t, 2>;

  Hash HashOf(std::string_view id) const;
  // The bits of a slot above those of the graph, from the hash: graphs of which they differ are passed over
  // without a look at their hashes, which would wait for memory.
  std::uint32_t TagOf(const Hash& hash) const { return static_cast<std::uint32_t>(hash[1]) & ~graph_mask_; }
  // The slot of this hash, or the free one where it belongs.
  std::size_t SlotOf(const Hash& hash) const;
  void Put(const Hash& hash, std::size_t graph);
  void Grow();

  Hash key_;
  std::deque<Hash> hashes_;           // by graph
  std::vector<std::uint32_t> slots_;  // graphs with their tags, at most three of four in use
  std::uint32_t graph_mask_;          // the bits of a graph, of which all graphs have a zero
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_ID_TABLE_H_
