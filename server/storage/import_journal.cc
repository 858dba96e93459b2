#include "server/storage/import_journal.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/content_hash.h"
#include "proto/base/crc32c.h"
#include "server/rocks/big_endian.h"

namespace packtrain::storage {
namespace {

constexpr std::string_view kFirstLine = "packtrain import 1\n";
constexpr std::size_t kRecordHeadBytes = 8;
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kDigestBytes = 64;

std::uint32_t ChecksumOf(std::string_view payload) {
  return base::Crc32c(std::as_bytes(std::span(payload.data(), payload.size())));
}

std::string RecordOf(std::string_view payload) {
  std::string record;
  rocks::AppendBigEndian(static_cast<std::uint32_t>(payload.size()), record);
  rocks::AppendBigEndian(ChecksumOf(payload), record);
  return record.append(payload);
}

// Goes through the records of a journal. Borrows its bytes.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : bytes_(bytes) {}

  // The payload of the next record; none where none is whole.
  std::optional<std::string_view> Next() {
    const std::string_view rest = bytes_.substr(at_);
    if (rest.size() < kRecordHeadBytes) return std::nullopt;
    const std::uint64_t size = *rocks::ParseBigEndian<std::uint32_t>(rest);
    const std::uint32_t checksum = *rocks::ParseBigEndian<std::uint32_t>(rest.substr(sizeof(std::uint32_t)));
    const std::string_view payload = rest.substr(kRecordHeadBytes, size);
    if (payload.size() < size || ChecksumOf(payload) != checksum) return std::nullopt;
    at_ += kRecordHeadBytes + size;
    return payload;
  }

  std::uint64_t at() const { return at_; }

 private:
  const std::string_view bytes_;
  std::size_t at_ = kFirstLine.size();
};

template <typename Message>
bool Parse(std::string_view bytes, Message& message) {
  if (bytes.size() > std::numeric_limits<int>::max()) return false;
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::optional<ImportBeginning> DecodeBeginning(std::string_view payload) {
  if (payload.size() < kNumberBytes + kDigestBytes) return std::nullopt;
  ImportBeginning beginning;
  beginning.storage_id = *rocks::ParseBigEndian<std::uint64_t>(payload);
  beginning.header_digest = payload.substr(kNumberBytes, kDigestBytes);
  if (!Parse(payload.substr(kNumberBytes + kDigestBytes), beginning.identity)) return std::nullopt;
  return beginning;
}

std::optional<ImportPiece> DecodePiece(std::string_view payload) {
  if (payload.size() < 2 * kNumberBytes) return std::nullopt;
  ImportPiece piece;
  piece.file_bytes = *rocks::ParseBigEndian<std::uint64_t>(payload);
  piece.written_at_ms =
      static_cast<std::int64_t>(*rocks::ParseBigEndian<std::uint64_t>(payload.substr(kNumberBytes)));
  if (!Parse(payload.substr(2 * kNumberBytes), piece.progress)) return std::nullopt;
  return piece;
}

}  // namespace

std::string HeaderDigest(const v1::ImportHeader& header) {
  v1::ImportHeader alone = header;
  alone.clear_identity();
  alone.clear_continue_at();
  return base::HexSha256(alone.SerializeAsString());
}

std::string EncodeBeginning(const ImportBeginning& beginning) {
  std::string payload;
  rocks::AppendBigEndian(beginning.storage_id, payload);
  payload += beginning.header_digest;
  payload += beginning.identity.SerializeAsString();
  return std::string(kFirstLine) + RecordOf(payload);
}

std::string EncodePiece(const ImportPiece& piece) {
  std::string payload;
  rocks::AppendBigEndian(piece.file_bytes, payload);
  rocks::AppendBigEndian(static_cast<std::uint64_t>(piece.written_at_ms), payload);
  payload += piece.progress.SerializeAsString();
  return RecordOf(payload);
}

absl::StatusOr<ImportJournal> ReadJournal(const std::filesystem::path& file, std::size_t max_pieces) {
  std::error_code ignored;
  std::string bytes;
  if (std::filesystem::is_regular_file(file, ignored)) {
    std::ifstream stream(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  }
  RecordReader records(bytes);
  ImportJournal journal;
  std::optional<ImportBeginning> beginning;
  if (bytes.starts_with(kFirstLine)) {
    if (const std::optional<std::string_view> payload = records.Next()) beginning = DecodeBeginning(*payload);
  }
  if (!beginning) return absl::DataLossError(absl::StrCat(file.string(), " is no journal of an import"));
  journal.beginning = *std::move(beginning);
  journal.ends.push_back(records.at());
  while (journal.pieces.size() < max_pieces) {
    const std::optional<std::string_view> payload = records.Next();
    std::optional<ImportPiece> piece = payload ? DecodePiece(*payload) : std::nullopt;
    if (!piece) break;
    journal.pieces.push_back(*std::move(piece));
    journal.ends.push_back(records.at());
  }
  return journal;
}

}  // namespace packtrain::storage
