// In how many of the graphs that are stored each label was found.
//
//   kept.Add(labels);                       // of each graph that is sent, in order
//   kept.CountsWithout(refused_positions);  // once it is known which of them were refused after all
#ifndef PACKTRAIN_CLIENT_INGEST_KEPT_LABELS_H_
#define PACKTRAIN_CLIENT_INGEST_KEPT_LABELS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace packtrain::ingest {

// Used by one thread.
class KeptLabels {
 public:
  // A label that a graph has.
  struct Found {
    std::uint32_t label;
    bool is_number;
  };
  struct Count {
    std::uint64_t found = 0;
    std::uint64_t numbers = 0;

    bool operator==(const Count&) const = default;
  };
  struct Counts {
    std::uint64_t graphs = 0;
    std::vector<Count> labels;  // by number, of as many as were found

    Count Of(std::size_t label) const { return label < labels.size() ? labels[label] : Count(); }
  };

  // With `remembers`, which labels each graph has stays known, for CountsWithout: one set of labels for each
  // that occurs, and 16 bytes for each graph whose labels are not those of the graph before.
  explicit KeptLabels(bool remembers) : remembers_(remembers) {}

  void Restart();
  // Counts a graph by its labels, each once.
  void Add(std::span<const Found> labels);

  // Of all graphs but those at `refused`, which ascend and count from 0; none where nothing is remembered.
  Counts CountsWithout(std::span<const std::uint64_t> refused) const;

 private:
  using Set = std::vector<std::uint32_t>;  // 2 * label + 1 for a number
  struct Run {
    std::uint64_t first;  // graph
    const Set* set;
  };

  static void Add(const Set& set, Counts* counts);
  static void Subtract(const Set& set, Counts* counts);
  void Remember();

  const bool remembers_;
  Counts counts_;
  Set current_;  // of the graph that was added last
  Set before_;   // of the one in front of it
  std::set<Set> sets_;
  std::vector<Run> runs_;  // of graphs with the same labels
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_KEPT_LABELS_H_
