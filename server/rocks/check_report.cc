#include "server/rocks/check_report.h"

#include <utility>

namespace packtrain::rocks {

v1::FsckFinding Finding(v1::FsckKind kind, std::string_view message) {
  v1::FsckFinding finding;
  finding.set_kind(kind);
  finding.set_message(std::string(message));
  return finding;
}

absl::Status CheckReport::Find(v1::FsckFinding finding) {
  summary_.set_findings(summary_.findings() + 1);
  v1::FsckResponse event;
  *event.mutable_finding() = std::move(finding);
  return sink_(event);
}

absl::Status CheckReport::Tell(std::string_view subject, std::uint64_t done, std::uint64_t total) {
  v1::FsckResponse event;
  v1::FsckProgress& progress = *event.mutable_progress();
  progress.set_subject(std::string(subject));
  progress.set_done(done);
  progress.set_total(total);
  progress.set_read_bytes(summary_.bytes());
  progress.set_total_bytes(total_bytes_);
  return sink_(event);
}

}  // namespace packtrain::rocks
