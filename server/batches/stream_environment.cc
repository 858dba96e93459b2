#include "server/batches/stream_environment.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"

namespace packtrain::batches {
namespace {

absl::Status CheckFingerprint(const std::string& expected, const ResolvedSpec& resolved) {
  if (expected.empty() || expected == resolved.fingerprint) return absl::OkStatus();
  return base::WithReason(absl::FailedPreconditionError(absl::StrCat(
                              "the plan of ", resolved.reference(), " split ", resolved.split,
                              " has fingerprint ", resolved.fingerprint, ", expected was ", expected,
                              ": data set, split, spec or plan version differ from the earlier run's")),
                          "FINGERPRINT_MISMATCH",
                          {{"fingerprint", resolved.fingerprint}, {"expected", expected}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchSequence>> OpenSequence(const StreamEnvironment& environment,
                                                            const StreamRequest& request) {
  ABSL_ASSIGN_OR_RETURN(ResolvedSpec resolved, Resolve(environment.store, request.spec));
  ABSL_RETURN_IF_ERROR(CheckFingerprint(request.expected_fingerprint, resolved));
  // Plans go on holding the stored data set: kept ones must not keep records in memory.
  ABSL_ASSIGN_OR_RETURN(BatchBuilder builder,
                        BatchBuilder::Create(environment.residents.Use(resolved.dataset),
                                             environment.max_batch_bytes, environment.memory));
  return BatchSequence::Open(std::move(resolved), request.range, std::move(builder), environment.plans,
                             environment.shared, environment.planners);
}

}  // namespace packtrain::batches
