// Reads a log of RocksDB, its manifest or a write-ahead log, as it lies on disk.
#ifndef PACKTRAIN_SERVER_ROCKS_LOG_FILE_H_
#define PACKTRAIN_SERVER_ROCKS_LOG_FILE_H_

#include <cstdint>
#include <istream>

#include "absl/status/status.h"

namespace packtrain::rocks {

// What the last record of a log may be.
enum class LogEnd : std::uint8_t {
  kWhole,
  kOpen,  // cut off: somebody is writing it
};

// Holds the first `bytes` bytes of a log against its checksums. A log is blocks of 32 KiB, the last one
// shorter. A block is records and, where less than a header of 7 bytes is left, zeros. A record is
//   checksum  u32 little-endian, masked CRC-32C of type and payload
//   length    u16 little-endian, of the payload
//   type      u8: 1 whole, 2 first, 3 middle and 4 last of one that blocks cut up
//   payload
// DATA_LOSS: a record is not as it was written; the message names the place. UNAVAILABLE: cannot be read.
absl::Status VerifyLog(std::istream& log, std::uint64_t bytes, LogEnd end);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_LOG_FILE_H_
