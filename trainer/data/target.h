// What of a data set a run trains on: the columns of the targets, their normalisation, and the classes of atoms
// and tokens.
#ifndef PACKTRAIN_TRAINER_DATA_TARGET_H_
#define PACKTRAIN_TRAINER_DATA_TARGET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/dataset_info.h"

namespace packtrain::trainer {

// One target and how it is normalised: (value - mean) / scale.
struct Target {
  std::string name;
  std::string unit;
  std::size_t column = 0;   // of field `y`
  std::size_t columns = 1;  // of field `y`
  double mean = 0;
  double scale = 1;   // the deviation, or 1 where all values are equal
  double median = 0;  // the mean where the data set does not know it

  double Normalise(double value) const { return (value - mean) / scale; }
};

// Row of the embedding for each atomic number; -1: not in the data set.
using ClassTable = std::array<std::int32_t, 256>;

// Row of the embedding for each token, and the number of rows.
struct TokenClasses {
  std::vector<std::int32_t> of_token = {};
  std::int64_t count = 0;
};

// The targets that `names`, "A,B,..", lists, in its order, or the first one of the data set where it is empty,
// each normalised by those graphs of `split` that have it. Where a target has all of `names` as its name, with
// its commas, it is meant. INVALID_ARGUMENT, naming those that there are: no such target, or one twice.
// NOT_FOUND: no such split. FAILED_PRECONDITION: the split is empty, none of its graphs has the target, or its
// values are too great for a mean and a deviation.
absl::StatusOr<std::vector<Target>> ChooseTargets(const client::DatasetInfo& dataset, const std::string& split,
                                                  const std::string& names);

// "A,B,..".
std::string NamesOf(const std::vector<Target>& targets);

// The split that `requested` means: itself, or train where the data set has one, else all. NOT_FOUND names
// what there is.
absl::StatusOr<std::string> ResolveSplit(const client::DatasetInfo& dataset, const std::string& requested);

// Rows in ascending order of atomic number. INVALID_ARGUMENT: an atomic number above 255.
absl::StatusOr<ClassTable> MakeClassTable(const client::DatasetInfo& dataset);

// A row for each token that is in at least two of the graphs that were imported, in their order, and one behind
// them for all others. A vocabulary that does not say how many graphs have a token has a row for each.
TokenClasses MakeTokenClasses(const client::FieldInfo& tokens);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_TARGET_H_
