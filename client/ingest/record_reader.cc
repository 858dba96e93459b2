#include "client/ingest/record_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "proto/base/mutex.h"

namespace packtrain::ingest {
namespace {

// Text that a thread parses in one go, so that taking turns costs little.
constexpr std::size_t kChunkBytes = 64 << 10;
constexpr std::size_t kMaxChunkRecords = 1024;
constexpr std::size_t kChunksPerThread = 4;
// Text that may be held before no more is cut off the file.
constexpr std::size_t kMaxHeldBytes = 32 << 20;

// Records that follow each other in a file, and what became of them.
struct Chunk {
  struct Record {
    explicit Record(const GraphLayout& layout) : graph(layout) {}

    RawRecord raw;
    SourceGraph graph;
    absl::Status status;
  };

  std::vector<Record> records;
  std::size_t count = 0;  // of `records` that are in use
  bool is_last = false;   // nothing can be read behind these records
  std::size_t bytes = 0;  // of text
};

// What a slot of a chunk holds on to.
std::size_t HeldBytes(const Chunk::Record& record) {
  std::size_t bytes = record.raw.text.capacity();
  for (const FieldValues& field : record.graph.fields) {
    bytes += std::visit([](const auto& values) { return values.capacity() * sizeof(values[0]); }, field);
  }
  return bytes + (record.graph.senders.capacity() + record.graph.receivers.capacity()) * sizeof(std::uint32_t);
}

class RecordReader final : public GraphReader {
 public:
  RecordReader(std::unique_ptr<RecordCutter> cutter, NewParser new_parser, std::size_t threads)
      : new_parser_(std::move(new_parser)), max_threads_(threads), cutter_(std::move(cutter)) {
    parsers_.push_back(new_parser_());
  }

  ~RecordReader() override { Stop(); }

  const GraphLayout& layout() const override { return parsers_.front()->layout(); }

  absl::StatusOr<bool> Next(SourceGraph* graph) override {
    while (taken_ == current_->count) {
      if (current_->is_last) return false;
      Advance();
    }
    Chunk::Record& record = current_->records[taken_++];
    std::swap(*graph, record.graph);
    if (record.status.ok()) return true;
    return record.status;
  }

 private:
  // The first chunk is read without threads: starting them would cost more than most files that are one chunk.
  void Advance() {
    taken_ = 0;
    if (next_ > 0) return TakeNext();
    next_ = Cut(*current_).value_or(0) + 1;
    Hold(*current_);
    Parse(*parsers_.front(), *current_);
    if (!current_->is_last) Start();
  }

  void Start() {
    {
      base::MutexLock lock(mutex_);
      for (std::size_t k = 0; k < kChunksPerThread * max_threads_; ++k)
        free_.push_back(std::make_unique<Chunk>());
    }
    while (parsers_.size() < max_threads_) parsers_.push_back(new_parser_());
    for (const std::unique_ptr<RecordParser>& parser : parsers_) {
      threads_.emplace_back([this, &parser] { Work(*parser); });
    }
  }

  void Stop() {
    {
      base::MutexLock lock(mutex_);
      stopped_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // Gives back the chunk that was read and waits for the one behind it.
  void TakeNext() {
    base::MutexLock lock(mutex_);
    held_bytes_ -= current_->bytes;
    free_.push_back(std::move(current_));
    changed_.NotifyAll();
    while (!parsed_.contains(next_)) changed_.Wait(mutex_);
    current_ = std::move(parsed_.extract(next_++).mapped());
  }

  void Work(RecordParser& parser) {
    while (std::unique_ptr<Chunk> chunk = TakeFree()) {
      const std::optional<std::uint64_t> number = Cut(*chunk);
      if (!number.has_value()) return;
      Hold(*chunk);
      Parse(parser, *chunk);
      base::MutexLock lock(mutex_);
      parsed_[*number] = std::move(chunk);
      changed_.NotifyAll();
    }
  }

  // Null once nothing more is wanted.
  std::unique_ptr<Chunk> TakeFree() {
    base::MutexLock lock(mutex_);
    while ((free_.empty() || held_bytes_ > kMaxHeldBytes) && !stopped_) changed_.Wait(mutex_);
    if (stopped_) return nullptr;
    std::unique_ptr<Chunk> chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }

  void Hold(const Chunk& chunk) {
    base::MutexLock lock(mutex_);
    held_bytes_ += chunk.bytes;
  }

  // Cuts a chunk off the file and returns its number; nullopt where all of the file is cut.
  std::optional<std::uint64_t> Cut(Chunk& chunk) {
    base::MutexLock lock(cut_mutex_);
    if (cut_all_) return std::nullopt;
    chunk.count = 0;
    chunk.bytes = 0;
    while (chunk.bytes < kChunkBytes && chunk.count < kMaxChunkRecords && !cut_all_) {
      Chunk::Record& record = NextSlot(chunk);
      const absl::StatusOr<bool> more = cutter_->Next(&record.raw);
      record.status = more.status();
      record.graph.record = record.raw.origin.record;
      record.graph.line = record.raw.origin.line;
      chunk.bytes += record.raw.text.size();
      if (!more.ok() || *more) ++chunk.count;
      cut_all_ = more.ok() ? !*more : !IsRefusal(more.status());
    }
    chunk.is_last = cut_all_;
    return cut_++;
  }

  // The slot behind those in use, empty. A slot that held a large record is made anew, so that a file of a few
  // large ones among small ones does not leave the room of a large one in each slot.
  Chunk::Record& NextSlot(Chunk& chunk) const {
    if (chunk.count == chunk.records.size()) chunk.records.emplace_back(layout());
    Chunk::Record& record = chunk.records[chunk.count];
    if (HeldBytes(record) > kChunkBytes) record = Chunk::Record(layout());
    record.graph.Clear();
    record.raw.text.clear();
    record.raw.leaves_rest = false;
    return record;
  }

  static void Parse(RecordParser& parser, Chunk& chunk) {
    for (std::size_t k = 0; k < chunk.count; ++k) {
      Chunk::Record& record = chunk.records[k];
      if (!record.status.ok()) continue;
      record.status = RefusedAt(record.raw.origin, parser.Parse(record.raw, &record.graph));
      if (record.raw.leaves_rest) record.status = LeavingRest(record.status);
    }
  }

  const NewParser new_parser_;
  const std::size_t max_threads_;

  base::Mutex cut_mutex_;
  const std::unique_ptr<RecordCutter> cutter_;
  std::uint64_t cut_ ABSL_GUARDED_BY(cut_mutex_) = 0;  // chunks
  bool cut_all_ ABSL_GUARDED_BY(cut_mutex_) = false;

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<std::unique_ptr<Chunk>> free_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::unique_ptr<Chunk>> parsed_ ABSL_GUARDED_BY(mutex_);  // by number
  std::size_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of chunks that are cut and not given back
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;

  // Of whoever reads.
  std::unique_ptr<Chunk> current_ = std::make_unique<Chunk>();  // empty before the first
  std::uint64_t next_ = 0;                                      // number of the chunk behind `current_`
  std::size_t taken_ = 0;                                       // records of `current_`

  std::vector<std::unique_ptr<RecordParser>> parsers_;  // one for each thread, at least one
  std::vector<std::thread> threads_;                    // last: they use the rest
};

}  // namespace

std::unique_ptr<GraphReader> NewRecordReader(std::unique_ptr<RecordCutter> cutter, NewParser new_parser,
                                             std::size_t threads) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::make_unique<RecordReader>(std::move(cutter), std::move(new_parser),
                                        threads == 0 ? cores : threads);
}

}  // namespace packtrain::ingest
