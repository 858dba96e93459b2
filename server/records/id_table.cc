#include "server/records/id_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>

namespace packtrain::records {
namespace {

constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kFirstSlots = 16;
// Odd, with as many ones as zeros (those of wyhash).
constexpr std::array<std::uint64_t, 2> kMultipliers = {0xa0761d6478bd642f, 0xe7037ed1a0b428db};

std::uint64_t Random() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Both halves of a product of 128 bits, so that each bit of a factor matters for all of the result.
std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Bits enough for all indices of slots, so that no graph has all of them.
std::uint32_t MaskOf(std::size_t slots) { return static_cast<std::uint32_t>(std::bit_ceil(slots) - 1); }

}  // namespace

IdTable::IdTable() : key_{Random(), Random()}, slots_(kFirstSlots, kFree), graph_mask_(MaskOf(slots_.size())) {}

IdTable::Hash IdTable::HashOf(std::string_view id) const {
  Hash hash = key_;
  for (std::size_t at = 0; at < id.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, id.data() + at, std::min(sizeof(word), id.size() - at));
    for (std::size_t half = 0; half < hash.size(); ++half)
      hash[half] = Mix(hash[half] ^ word, kMultipliers[half]);
  }
  // The length goes in last, where no byte of the id can cancel it out: it tells an id from one with zeros
  // behind.
  return {Mix(hash[0] ^ id.size(), key_[1] | 1), Mix(hash[1] ^ id.size(), key_[0] | 1)};
}

std::size_t IdTable::SlotOf(const Hash& hash) const {
  auto slot = static_cast<std::size_t>(static_cast<unsigned __int128>(hash[0]) * slots_.size() >> 64);
  const auto is_other = [this, &hash, tag = TagOf(hash)](std::uint32_t taken) {
    return (taken & ~graph_mask_) != tag || hashes_[taken & graph_mask_] != hash;
  };
  while (slots_[slot] != kFree && is_other(slots_[slot])) slot = slot + 1 < slots_.size() ? slot + 1 : 0;
  return slot;
}

std::optional<std::uint32_t> IdTable::Find(std::string_view id) const {
  const std::uint32_t taken = slots_[SlotOf(HashOf(id))];
  if (taken == kFree) return std::nullopt;
  return taken & graph_mask_;
}

void IdTable::Add(std::string_view id) {
  if ((hashes_.size() + 1) * 4 > slots_.size() * 3) Grow();
  const Hash hash = HashOf(id);
  Put(hash, hashes_.size());
  hashes_.push_back(hash);
}

void IdTable::Put(const Hash& hash, std::size_t graph) {
  slots_[SlotOf(hash)] = static_cast<std::uint32_t>(graph) | TagOf(hash);
}

void IdTable::Grow() {
  const std::size_t slots = slots_.size() + slots_.size() / 2;
  slots_ = std::vector<std::uint32_t>();  // so that the old ones are not held beside the new ones
  slots_ = std::vector<std::uint32_t>(slots, kFree);
  graph_mask_ = MaskOf(slots);
  std::size_t graph = 0;
  for (const Hash& hash : hashes_) Put(hash, graph++);
}

std::uint64_t IdTable::memory_bytes() const {
  return sizeof(*this) + hashes_.size() * sizeof(Hash) + slots_.size() * sizeof(slots_[0]);
}

}  // namespace packtrain::records
