// A run's properties as text: what filters select by, and the factors that comparisons sort by.
#ifndef PACKTRAIN_SERVER_ANALYSIS_RUN_FIELDS_H_
#define PACKTRAIN_SERVER_ANALYSIS_RUN_FIELDS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "packtrain/v1/run.pb.h"

namespace packtrain::analysis {

// What decides a run's speed, apart from chance, by the keys of filters: policy, model, target, dataset,
// version, precision, engine, world_size, batch_graphs, hardware (the devices of one rank). Seeds, budgets,
// fingerprint, host, labels and times are none.
std::map<std::string, std::string> Factors(const v1::RunDescription& description);

// Value of a filter key in a run; nothing where the run lacks it, as a label may.
using FieldReader = std::function<std::optional<std::string>(const v1::Run& run)>;
// Null where there is no such key. `label.NAME` is one for every NAME.
FieldReader FindField(std::string_view key);
// All keys, for messages: "run, state, ...".
std::string KnownFields();

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_RUN_FIELDS_H_
