// The JSON of data sets, as the commands below `packtrain dataset` print it.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_DATASET_JSON_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_DATASET_JSON_H_

#include <string>

#include "client/cli/output.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// The keys of `dataset show`.
Json DatasetToJson(const v1::Dataset& dataset);

// "f32"; "node".
std::string DTypeName(v1::DataType type);
std::string ScopeName(v1::FieldScope scope);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_DATASET_JSON_H_
