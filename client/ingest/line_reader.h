// Lines of a text file, plain or gzip, with a limit on their length.
#ifndef PACKTRAIN_CLIENT_INGEST_LINE_READER_H_
#define PACKTRAIN_CLIENT_INGEST_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/byte_source.h"

namespace packtrain::ingest {

// Bounds on what one file may ask of the reader.
struct ReadLimits {
  std::uint64_t max_unpacked_bytes = std::uint64_t{64} << 30;
  std::size_t max_line_bytes = 1 << 20;
  std::uint64_t max_atoms = 1'000'000;     // of a graph, or nodes of whatever kind
  std::uint64_t max_edges = 50'000'000;    // of a graph
  std::uint64_t max_members = 10'000'000;  // of an archive, or files below a folder
  std::size_t max_depth = 64;              // of values in values, as in JSON
};

// Used by one thread.
class LineReader {
 public:
  // Errors of ByteSource::Open.
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const std::string& path, const ReadLimits& limits);
  LineReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits);

  // The next line without its end ("\n", "\r\n" or "\r"), and without a UTF-8 byte order mark; false at the
  // end of the file. Valid until the next call. Refusals: those of ByteSource::Read, "line_too_long", and
  // "nul_byte" for a line that holds one. They are at the line that cannot be read and leave the rest, but for
  // a file that is no data, which is refused as a whole.
  absl::StatusOr<bool> Next(std::string_view* line);
  // Makes the next call of Next give the same line again; its view stays valid.
  void Unread();

  // Number of the line that Next gave last, from 1.
  std::uint64_t line_number() const { return line_number_; }
  const std::string& path() const { return source_->path(); }
  ByteSource& source() { return *source_; }

 private:
  // Where a byte stands next, searched for once in what was read.
  class NextByte {
   public:
    explicit NextByte(char byte) : byte_(byte) {}
    // Its first offset from `from` on; `end`: none. `from` does not go back before Forget.
    std::size_t Find(const std::vector<char>& buffer, std::size_t from, std::size_t end);
    void Forget() { known_ = false; }

   private:
    const char byte_;
    bool known_ = false;
    std::size_t at_ = 0;
  };

  absl::StatusOr<bool> FindLine(std::string_view* line);
  // Why the line behind the last one cannot be read.
  absl::Status AtThisLine(absl::Status refusal) const;
  absl::Status CheckLine(std::string_view line);
  // Keeps what is unread, moves it to the front and reads on. False at the end of the file.
  absl::StatusOr<bool> Refill();
  void Accept(std::string_view* line);

  std::unique_ptr<ByteSource> source_;
  const std::size_t max_line_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is unread
  std::size_t end_ = 0;
  NextByte newline_{'\n'}, carriage_return_{'\r'}, nul_{'\0'};
  std::uint64_t line_number_ = 0;
  std::string_view last_;
  bool unread_ = false;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_LINE_READER_H_
