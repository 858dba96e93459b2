#include "trainer/ranks/heartbeats.h"

#include <exception>
#include <string>

#include "absl/strings/str_cat.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {
namespace {

std::string BeatKey(std::uint32_t rank) { return absl::StrCat("beats/", rank); }
std::string EndKey(std::uint32_t rank) { return absl::StrCat("ended/", rank); }

}  // namespace

Heartbeats::Heartbeats(c10::intrusive_ptr<c10d::Store> store, const World& world, const Options& options,
                       TimePoint now)
    : store_(std::move(store)),
      world_(world),
      options_(options),
      peer_status_(store_, world, options.peer_timeout) {
  for (std::uint32_t rank = 0; rank < world.size; ++rank) {
    if (rank != world.rank) peers_.push_back({.rank = rank, .beats = 0, .heard = now, .ended = false});
  }
}

absl::Status Heartbeats::Beat(TimePoint now) {
  try {
    store_->add(BeatKey(world_.rank), 1);
    return Look(now);
  } catch (const std::exception&) {
    return RankIsGone(0);
  }
}

absl::Status Heartbeats::Look(TimePoint now) {
  for (Peer& peer : peers_) {
    if (peer.ended) continue;
    if (peer_status_.HasLeft(peer.rank)) return peer_status_.Diagnose("another rank left");
    Listen(peer, now);
    if (peer.ended || now - peer.heard <= options_.timeout) continue;
    // What becomes of the word does not matter: this rank knows.
    peer_status_.Leave("").IgnoreError();
    return RankIsGone(peer.rank);
  }
  return absl::OkStatus();
}

void Heartbeats::Listen(Peer& peer, TimePoint now) {
  const std::int64_t beats = store_->add(BeatKey(peer.rank), 0);
  if (beats != peer.beats) {
    peer.beats = beats;
    peer.heard = now;
  } else {
    peer.ended = store_->check({EndKey(peer.rank)});
  }
}

void Heartbeats::End() {
  try {
    store_->set(EndKey(world_.rank), "");
    if (world_.rank != 0) return;
    std::vector<std::string> ends;
    for (const Peer& peer : peers_) ends.push_back(EndKey(peer.rank));
    store_->wait(ends, options_.peer_timeout);
  } catch (const std::exception&) {
    // A rank that is not done by now finds its store gone, and says so.
  }
}

}  // namespace packtrain::trainer
