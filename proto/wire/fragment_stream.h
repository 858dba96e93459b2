// Lets protobuf read a message that lies in pieces.
#ifndef PACKTRAIN_PROTO_WIRE_FRAGMENT_STREAM_H_
#define PACKTRAIN_PROTO_WIRE_FRAGMENT_STREAM_H_

#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace packtrain::wire {

// Reads the fragments one after another; borrows them. Used by one thread.
class FragmentStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit FragmentStream(std::span<const std::span<const std::byte>> fragments) : fragments_(fragments) {}

  bool Next(const void** data, int* size) override;
  void BackUp(int count) override;
  bool Skip(int count) override;
  std::int64_t ByteCount() const override { return byte_count_; }

 private:
  std::span<const std::span<const std::byte>> fragments_;
  std::size_t index_ = 0;   // of the fragment that Next reads from
  std::size_t offset_ = 0;  // in that fragment
  std::int64_t byte_count_ = 0;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_FRAGMENT_STREAM_H_
