#include "proto/base/content_hash.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/escaping.h"

namespace packtrain::base {
namespace {

// SHA-256 fails only where libcrypto lacks it or memory is out; neither leaves anything to hash with.
void Require(int succeeded) {
  if (succeeded != 1) std::abort();
}

std::array<std::byte, 8> LittleEndian(std::uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value & 0xff);
    value >>= 8;
  }
  return bytes;
}

}  // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  Require(context_->digest != nullptr && EVP_DigestInit_ex(context_->digest.get(), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(std::span<const std::byte> bytes) {
  Require(EVP_DigestUpdate(context_->digest.get(), bytes.data(), bytes.size()));
}

void Sha256::UpdateSized(std::string_view text) {
  Update(LittleEndian(text.size()));
  Update(text);
}

std::string Sha256::HexDigest() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  Require(EVP_DigestFinal_ex(context_->digest.get(), digest.data(), &size));
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), size});
}

std::string HexSha256(std::string_view text) {
  Sha256 hash;
  hash.Update(text);
  return hash.HexDigest();
}

std::string PlanFingerprint(std::string_view dataset_version, std::string_view split,
                            std::string_view canonical_spec) {
  Sha256 hash;
  hash.UpdateSized("packtrain plan");
  hash.UpdateSized(dataset_version);
  hash.UpdateSized(split);
  hash.UpdateSized(canonical_spec);
  return hash.HexDigest().substr(0, 32);
}

}  // namespace packtrain::base
