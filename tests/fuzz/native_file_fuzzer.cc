// A native file is any bytes: it is read to its end or refused. What follows the first byte as frames whose
// checksums are right is such a file, too.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/ingest/formats/native_file.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/memory_file.h"

namespace {

using packtrain::fuzz::Expect;
using packtrain::fuzz::MemoryFile;
namespace ingest = packtrain::ingest;
namespace v1 = packtrain::v1;

// Graphs read, with blocks left packed or not; none where the file is refused.
std::uint64_t Read(const std::string& path, bool packed) {
  const auto file = ingest::NativeFile::Open(path);
  if (!file.ok()) return 0;
  std::uint64_t graphs = 0;
  v1::ExportDatasetResponse message;
  while (true) {
    ingest::PackedRecords block;
    message.Clear();
    const absl::StatusOr<bool> more = (*file)->Next(&message, packed ? &block : nullptr);
    if (!more.ok()) return 0;
    if (!*more) break;
    graphs += block.graphs + static_cast<std::uint64_t>(message.block().records_size());
  }
  Expect((*file)->consumed_bytes() == (*file)->bytes(), "a file that is taken is read to its end");
  Expect(message.end().graphs() == graphs, "a file that is taken holds as many graphs as it says");
  return graphs;
}

// The same in both ways.
std::uint64_t Read(const std::string& path) {
  const std::uint64_t graphs = Read(path, /*packed=*/false);
  Expect(Read(path, /*packed=*/true) == graphs, "blocks that are left packed hold the same graphs");
  return graphs;
}

// The message in frames: a header, the message's records one by one, and the end.
std::string FileOf(const v1::RecordBlock& records) {
  std::string bytes(ingest::kNativeMagic);
  v1::ExportDatasetResponse message;
  message.mutable_header();
  bytes += ingest::NativeFrame(message);
  for (const std::string& record : records.records()) {
    message.Clear();
    message.mutable_block()->add_records(record);
    bytes += ingest::NativeFrame(message);
  }
  message.Clear();
  message.mutable_end()->set_graphs(static_cast<std::uint64_t>(records.records_size()));
  return bytes + ingest::NativeFrame(message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(MemoryFile(bytes).path());
  v1::RecordBlock records;
  if (records.ParseFromArray(data, static_cast<int>(size))) {
    const std::string file = FileOf(records);
    const auto graphs = static_cast<std::uint64_t>(records.records_size());
    Expect(Read(MemoryFile(file).path()) == graphs, "what is written is read");
    Expect(Read(MemoryFile(file.substr(0, file.size() - 1)).path()) == 0, "a file that is cut off is refused");
  }
  return 0;
}
