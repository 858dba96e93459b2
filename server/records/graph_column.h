// A number of each graph of a data set, such as its nodes.
#ifndef PACKTRAIN_SERVER_RECORDS_GRAPH_COLUMN_H_
#define PACKTRAIN_SERVER_RECORDS_GRAPH_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace packtrain::records {

// Takes 2 bytes a number, and 8 more for one that is above 65,534. In pieces, so that growing holds nothing
// twice. Used by one thread.
class GraphColumn {
 public:
  void Add(std::uint32_t number);

  std::size_t size() const { return small_.size(); }
  bool empty() const { return small_.empty(); }
  // 0: there is none.
  std::uint32_t max() const { return max_; }
  std::uint32_t operator[](std::size_t graph) const {
    return small_[graph] == kLarge ? LargeAt(graph) : small_[graph];
  }
  // Of `count` graphs from `begin` on.
  std::vector<std::uint32_t> Numbers(std::size_t begin, std::size_t count) const;
  std::vector<std::uint32_t> Numbers() const { return Numbers(0, size()); }

  // Of memory, but for what does not grow.
  std::uint64_t memory_bytes() const;

 private:
  static constexpr std::uint16_t kLarge = 0xffff;

  std::uint32_t LargeAt(std::size_t graph) const;

  std::deque<std::uint16_t> small_;                            // by graph; kLarge: the number is in large_
  std::deque<std::pair<std::uint32_t, std::uint32_t>> large_;  // graph and number, by graph
  std::uint32_t max_ = 0;
};

// Of memory that a deque takes, with a pointer to each of its pieces, of 512 bytes.
template <typename T>
std::uint64_t BytesOf(const std::deque<T>& values) {
  return (values.size() * sizeof(T) / 64 + 8) * 65;
}

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_GRAPH_COLUMN_H_
