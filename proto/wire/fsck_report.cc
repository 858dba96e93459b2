#include "proto/wire/fsck_report.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "proto/base/escape_controls.h"

namespace packtrain::wire {
namespace {

// 1234567 as "1,234,567".
std::string Grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace

std::string FsckKindName(v1::FsckKind kind) {
  switch (kind) {
    case v1::FSCK_KIND_FILE:
      return "file";
    case v1::FSCK_KIND_DATASET:
      return "dataset";
    case v1::FSCK_KIND_GRAPH:
      return "graph";
    case v1::FSCK_KIND_SPLIT:
      return "split";
    case v1::FSCK_KIND_RUN:
      return "run";
    case v1::FSCK_KIND_STORE:
      return "store";
    default:
      return "unknown";
  }
}

std::string FsckLine(const v1::FsckFinding& finding) {
  std::string line = FsckKindName(finding.kind());
  for (const std::string& name : {finding.file(), finding.dataset(), finding.split(), finding.run()}) {
    if (!name.empty()) absl::StrAppend(&line, " ", name);
  }
  if (finding.has_graph()) absl::StrAppend(&line, " ", finding.graph());
  if (!finding.source_id().empty()) absl::StrAppend(&line, " (", finding.source_id(), ")");
  return base::EscapeControls(line + ": " + finding.message()) + "\n";
}

std::string FsckLines(const v1::FsckSummary& summary) {
  std::string lines = absl::StrCat(
      Grouped(summary.files()), " files, ", Grouped(summary.graphs()), " graphs of ",
      Grouped(summary.datasets()), " data sets, ", Grouped(summary.runs()), " runs, ", Grouped(summary.bytes()),
      " bytes read: ", summary.findings() == 0 ? "all well" : Grouped(summary.findings()) + " findings", "\n");
  if (summary.unused() > 0) {
    absl::StrAppend(
        &lines, Grouped(summary.unused()),
        " sequences of graphs belong to no data set; the next start of the server gives their space "
        "back\n");
  }
  return lines;
}

void FsckProgress::Show(const v1::FsckProgress& event) {
  if (!progress_) {
    progress_.emplace(out_, terminal_, base::Progress::Subject{"fsck", "MiB", event.total_bytes()},
                      base::Progress::Clock::now);
  }
  progress_->SetTotal(event.total_bytes());
  progress_->Update(event.read_bytes() >> 20, event.read_bytes());
}

}  // namespace packtrain::wire
