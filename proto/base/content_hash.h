// Hashes that identify content: data-set versions, source files, plans.
#ifndef PACKTRAIN_PROTO_BASE_CONTENT_HASH_H_
#define PACKTRAIN_PROTO_BASE_CONTENT_HASH_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace packtrain::base {

// SHA-256 of bytes that arrive in pieces. Used by one thread.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::span<const std::byte> bytes);
  void Update(std::string_view text) { Update(std::as_bytes(std::span(text))); }
  // Adds the length, then the bytes, so that the boundary between neighbouring pieces is part of the hash.
  void UpdateSized(std::string_view text);

  // 64 lower-case hexadecimal digits. Ends the hash: nothing may be called after it.
  std::string HexDigest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// HexDigest of `text` alone.
std::string HexSha256(std::string_view text);

// Names a plan: 32 hexadecimal digits, equal for equal arguments. `canonical_spec` is
// batching::CanonicalText, which holds the plan version.
std::string PlanFingerprint(std::string_view dataset_version, std::string_view split,
                            std::string_view canonical_spec);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_CONTENT_HASH_H_
