// What is safe on the disk of an import that may break off: the file JOURNAL in its folder (kept_imports.h),
// like a file format. Format 1. Numbers are unsigned and big-endian.
//
//   "packtrain import 1\n"
//   records, end to end, each
//     bytes     u32, of the payload
//     checksum  u32, CRC-32C of the payload
//     payload
//
//   payload of the first record
//     storage id     u64, of the graphs' keys (key_schema.h)
//     header digest  64 hexadecimal digits: HeaderDigest
//     identity       v1::ImportIdentity, serialized
//   payload of each later one: a piece
//     file bytes     u64; 0: it holds no graph, and has no file
//     written        u64, milliseconds since 1970-01-01 UTC
//     progress       v1::ImportGraphsResponse, serialized: what became of all graphs of the import up to the
//     end of
//                    the piece; in `refused` those since the piece before
//
// A record is appended, and synced, once the file of its piece is. One that is cut off, or does not have its
// checksum, ends the journal: neither it nor what follows counts.
#ifndef PACKTRAIN_SERVER_STORAGE_IMPORT_JOURNAL_H_
#define PACKTRAIN_SERVER_STORAGE_IMPORT_JOURNAL_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::storage {

struct ImportBeginning {
  std::uint64_t storage_id = 0;
  std::string header_digest;
  v1::ImportIdentity identity;
};

struct ImportPiece {
  std::uint64_t file_bytes = 0;
  std::int64_t written_at_ms = 0;
  v1::ImportGraphsResponse progress;
};

// Hexadecimal SHA-256 of a header without identity and continue_at: imports go on under equal headers.
std::string HeaderDigest(const v1::ImportHeader& header);

// The bytes of a journal that begins, and of a record behind it.
std::string EncodeBeginning(const ImportBeginning& beginning);
std::string EncodePiece(const ImportPiece& piece);

struct ImportJournal {
  ImportBeginning beginning;
  std::vector<ImportPiece> pieces;
  // Bytes of the file up to the end of the beginning, then up to that of each piece.
  std::vector<std::uint64_t> ends;
};

// Reads at most `max_pieces` pieces. DATA_LOSS: not even its beginning is whole.
absl::StatusOr<ImportJournal> ReadJournal(const std::filesystem::path& file, std::size_t max_pieces = SIZE_MAX);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_IMPORT_JOURNAL_H_
