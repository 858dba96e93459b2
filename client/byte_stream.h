// The bare byte stream of a server's BenchService: what the transport itself can do.
#ifndef PACKTRAIN_CLIENT_BYTE_STREAM_H_
#define PACKTRAIN_CLIENT_BYTE_STREAM_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "client/connection.h"

namespace packtrain::client {

// How the stream is read. Which is fastest depends on the machine.
enum class ByteStreamSetting {
  kPlain,   // blocking reads, the channel as it is for batches
  kWindow,  // blocking reads, HTTP/2 frames up to 1 MiB and a window of 8 MiB
  kQueue,   // a completion queue, the channel as it is for batches
};

// Used by one thread. Has a channel of its own; its end ends the call.
class ByteStream {
 public:
  // Asks for messages of `sizes` bytes, in turn, without end. What the server thinks of it comes with the first
  // Next.
  static absl::StatusOr<std::unique_ptr<ByteStream>> Open(const ConnectionOptions& options,
                                                          std::span<const std::uint32_t> sizes,
                                                          ByteStreamSetting setting);
  virtual ~ByteStream() = default;

  // Bytes of the next message, which is not looked at. Blocks. UNIMPLEMENTED: the server does not serve it;
  // other codes are the server's.
  virtual absl::StatusOr<std::uint64_t> Next() = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_BYTE_STREAM_H_
