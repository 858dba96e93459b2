// The file format PACKTRAIN_FORMAT, a row of the table of formats, takes any bytes, packed or not, and ends in
// blocks of its schema and refusals.
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/ingest/formats/format_table.h"
#include "client/ingest/import_pipeline.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/memory_file.h"

namespace {

using packtrain::fuzz::Expect;
namespace ingest = packtrain::ingest;

ingest::ImportOptions OptionsFor(const std::string& path, const ingest::Format& format) {
  ingest::ImportOptions options;
  for (const ingest::FormatFlag& flag : format.flags) {
    if (flag.name == "--features") options.read.flags["--features"] = "ogb";
  }
  options.paths = {path};
  options.read.limits = {.max_unpacked_bytes = 1 << 20, .max_line_bytes = 1 << 16};
  options.skip_refused = true;
  return options;
}

// False where the file is refused as a whole.
bool ReadOnce(ingest::BlockSource& source) {
  if (!source.Begin().ok()) return false;
  std::uint64_t graphs = 0;
  ingest::Block block;
  while (true) {
    const absl::StatusOr<bool> more = source.Next(&block);
    if (!more.ok()) return false;
    if (!*more) break;
    graphs += ingest::GraphsOf(block);
  }
  if (!source.WhyBeginAgain().empty()) return true;
  Expect(source.ledger().read() == graphs + source.ledger().refused_graphs(),
         "what is read is sent or refused");
  return true;
}

bool ReadToTheEnd(ingest::BlockSource& source) {
  do {
    if (!ReadOnce(source)) return false;
  } while (!source.WhyBeginAgain().empty());
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const packtrain::fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  const ingest::Format* format = ingest::FindFormat(PACKTRAIN_FORMAT);
  if (format == nullptr) std::abort();  // each format with seeds has a row
  const auto source = ingest::OpenSource(*format, OptionsFor(file.path(), *format));
  if (!source.ok() || !ReadToTheEnd(**source)) return 0;
  Expect((*source)->consumed_bytes() == size, "a file that is taken is read to its end");
  return 0;
}
