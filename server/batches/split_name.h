// Which split a request means.
#ifndef PACKTRAIN_SERVER_BATCHES_SPLIT_NAME_H_
#define PACKTRAIN_SERVER_BATCHES_SPLIT_NAME_H_

#include <string>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::batches {

// `split`; where that is empty, "train" of a data set that has it, else "all".
std::string SplitOrDefault(const std::string& split, const v1::Dataset& description);

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_SPLIT_NAME_H_
