// Small texts from the command line, from requests and from files: each is taken or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/ingest/elements.h"
#include "client/ingest/text.h"
#include "proto/wire/edge_spec.h"
#include "server/analysis/run_metric.h"
#include "server/limits/page.h"
#include "server/runs/run_keys.h"
#include "server/storage/seal.h"
#include "tests/fuzz/fact.h"

namespace {

constexpr std::string_view kQuery = "model = schnet";

void PassPageToken(std::string_view text) {
  packtrain::limits::KeyOfPageToken(text, kQuery).status().IgnoreError();
  const auto key = packtrain::limits::KeyOfPageToken(packtrain::limits::PageToken(kQuery, text), kQuery);
  packtrain::fuzz::Expect(key.ok() && *key == text, "a page token gives back its key");
}

void PassEdgeSpec(std::string_view text) {
  const auto spec = packtrain::wire::ParseEdgeSpec(text);
  if (!spec.ok()) return;
  const auto again = packtrain::wire::ParseEdgeSpec(packtrain::wire::ToText(*spec));
  packtrain::fuzz::Expect(again.ok() && *again == *spec, "an edge spec's text gives back the spec");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  PassPageToken(text);
  PassEdgeSpec(text);
  packtrain::storage::CheckDatasetName(text).IgnoreError();
  packtrain::storage::NoSuchDataset(packtrain::storage::ParseReference(text)).IgnoreError();
  packtrain::analysis::RunMetric::Parse(text).status().IgnoreError();
  packtrain::runs::ReporterOfAttemptKey(text).status().IgnoreError();
  packtrain::runs::ReporterOfStepBlockKey(text).status().IgnoreError();
  packtrain::ingest::AtomicNumber(text);
  packtrain::ingest::ParseCount(text);
  packtrain::ingest::ParseFloat(text);
  packtrain::ingest::ParseDouble(text);
  return 0;
}
