// The filter of runs takes any text. One that parses says of each run yes or no, and its negation the opposite.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/analysis/run_filter.h"
#include "tests/fuzz/fact.h"

namespace {

packtrain::v1::Run SampleRun() {
  packtrain::v1::Run run;
  run.set_run("20240105-101112-abcd");
  run.set_state(packtrain::v1::RUN_STATE_DONE);
  run.set_steps(1000);
  packtrain::v1::RunDescription& description = *run.mutable_description();
  description.set_model("schnet");
  description.set_dataset("qm9@1");
  description.mutable_spec()->set_graphs(31);
  description.set_world_size(2);
  (*description.mutable_labels())["note"] = "a long night";
  return run;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using packtrain::analysis::RunFilter;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<RunFilter> filter = RunFilter::Parse(text);
  if (!filter.ok()) return 0;
  const packtrain::v1::Run run = SampleRun();
  const bool matches = filter->Matches(run);
  filter->Matches(packtrain::v1::Run());
  const absl::StatusOr<RunFilter> negation = RunFilter::Parse(absl::StrCat("not (", text, ")"));
  if (negation.ok()) packtrain::fuzz::Expect(negation->Matches(run) != matches, "not (F) is the opposite of F");
  return 0;
}
