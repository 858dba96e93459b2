#include "server/batches/batch_source.h"

#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/content_hash.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"
#include "server/batches/split_name.h"
#include "server/batching/spec_rules.h"

namespace packtrain::batches {
std::string BatchSource::reference() const {
  return absl::StrCat(dataset->description().name(), "@", dataset->description().version());
}

absl::StatusOr<BatchSource> ResolveBatchSource(storage::GraphStore& store, std::string_view dataset,
                                               const v1::BatchSpec& spec) {
  if (dataset.empty())
    return base::WithField(
        absl::InvalidArgumentError("dataset is missing: give NAME or NAME@VERSION (--dataset)"), "dataset");
  ABSL_ASSIGN_OR_RETURN(wire::BatchSpec converted, wire::FromMessage(spec));
  if (absl::Status status = batching::CheckSpec(converted); !status.ok()) {
    return base::WithField(std::move(status), "spec");
  }
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const storage::Dataset> opened, store.Open(dataset));

  BatchSource source{
      .dataset = std::move(opened), .split = {}, .spec = std::move(converted), .fingerprint = {}};
  const v1::Dataset& description = source.dataset->description();
  source.split = SplitOrDefault(spec.split(), description);
  if (auto split = source.dataset->Split(source.split); !split.ok()) return split.status();
  source.fingerprint =
      base::PlanFingerprint(description.version(), source.split, batching::CanonicalText(source.spec));
  return source;
}

}  // namespace packtrain::batches
