#include "server/batches/resolved_spec.h"

#include <utility>

#include "absl/status/status.h"
#include "proto/base/content_hash.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"
#include "proto/wire/full_name.h"
#include "server/batches/split_name.h"
#include "server/batching/spec_rules.h"

namespace packtrain::batches {

absl::StatusOr<RequestedSpec> RequestedSpec::Create(std::string_view dataset, const v1::BatchSpec& spec) {
  if (dataset.empty()) {
    return base::WithField(
        absl::InvalidArgumentError("dataset is missing: give NAME or NAME@VERSION (--dataset)"), "dataset");
  }
  RequestedSpec requested{.dataset = std::string(dataset), .split = spec.split(), .spec = {}};
  ABSL_ASSIGN_OR_RETURN(requested.spec, wire::FromMessage(spec));
  if (absl::Status status = batching::CheckSpec(requested.spec); !status.ok()) {
    return base::WithField(std::move(status), "spec");
  }
  return requested;
}

std::string ResolvedSpec::reference() const { return wire::FullName(dataset->description()); }

absl::StatusOr<ResolvedSpec> Resolve(storage::GraphStore& store, const RequestedSpec& requested) {
  ResolvedSpec resolved{.dataset = nullptr, .split = {}, .spec = requested.spec, .fingerprint = {}};
  ABSL_ASSIGN_OR_RETURN(resolved.dataset, store.Open(requested.dataset));
  const v1::Dataset& description = resolved.dataset->description();
  resolved.split = SplitOrDefault(requested.split, description);
  ABSL_RETURN_IF_ERROR(resolved.dataset->Split(resolved.split).status());
  resolved.fingerprint =
      base::PlanFingerprint(description.version(), resolved.split, batching::CanonicalText(resolved.spec));
  return resolved;
}

absl::StatusOr<ResolvedSpec> ResolveSpec(storage::GraphStore& store, std::string_view dataset,
                                         const v1::BatchSpec& spec) {
  ABSL_ASSIGN_OR_RETURN(const RequestedSpec requested, RequestedSpec::Create(dataset, spec));
  return Resolve(store, requested);
}

}  // namespace packtrain::batches
