// Text of the findings and the progress of a check of the stores (AdminService.Fsck).
#ifndef PACKTRAIN_PROTO_WIRE_FSCK_REPORT_H_
#define PACKTRAIN_PROTO_WIRE_FSCK_REPORT_H_

#include <iosfwd>
#include <optional>
#include <string>

#include "packtrain/v1/admin.pb.h"
#include "proto/base/progress.h"

namespace packtrain::wire {

// FSCK_KIND_GRAPH as "graph".
std::string FsckKindName(v1::FsckKind kind);

// One line each; a summary has two if there is more to say. Control characters are escaped.
std::string FsckLine(const v1::FsckFinding& finding);
std::string FsckLines(const v1::FsckSummary& summary);

// Shows how far a check is. Used by one thread.
class FsckProgress {
 public:
  // `out` is borrowed; `terminal` says whether it is one.
  FsckProgress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  void Show(const v1::FsckProgress& event);

 private:
  std::ostream& out_;
  const bool terminal_;
  std::optional<base::Progress> progress_;  // from the first event on
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_FSCK_REPORT_H_
