// SPDX-License-Identifier: Apache-2.0
#include "sites.h"

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "capi_fuzz.h"
#include "shortage.h"
#include "tally.h"

namespace fuzz {
namespace {

constexpr int kNone = 1 << 30;  // more allocations than a call has
constexpr int kMostSites = 300;
// Of each function so many calls are tried that succeed otherwise, or fewer if so many allocate.
constexpr int kSuccesses = 150, kAllocating = 10;
constexpr uint64_t kSeeds = 4000;  // that are tried for them

uint64_t successes_of(const char* function) {
  uint64_t sum = 0;
  for (const Tally* each = tallies(); each != nullptr; each = each->next)
    if (std::strcmp(each->function, function) == 0) sum += each->successes;
  return sum;
}

struct Outcome {
  bool succeeded = false, failed_to_allocate = false, says_so = false;
};

// The call after some others, whose number and arguments depend on the seed. In a thread of its
// own, which keeps no messages.
Outcome run(const Call& call, uint64_t seed, int site, bool all_others) {
  Outcome outcome;
  std::thread([&] {
    std::mt19937_64 random(seed);
    std::vector<uint8_t> input(1024);
    for (uint8_t& each : input) each = static_cast<uint8_t>(random());
    State state(input.data(), input.size());
    state.begin();
    const auto& calls = all_calls();
    const size_t at = static_cast<size_t>(&call - calls.data());
    for (uint64_t i = 0; i < seed % 16; ++i) {
      // Half of them do something similar.
      const size_t choice = random() % 2 == 0 ? random() : at + calls.size() - 8 + random() % 17;
      const Call& other = calls[choice % calls.size()];
      if (other.rarity < 4 || call.rarity > 1) other.run(state);
    }
    const uint64_t before = successes_of(call.function);
    fail_within(call.function, site, all_others);
    call.run(state);
    outcome.failed_to_allocate = end_failing();
    outcome.says_so = failing_status() == 0 || is_shortage(failing_status());
    outcome.succeeded = successes_of(call.function) > before;
    state.end();
  }).join();
  return outcome;
}

// Threads of the library's own release what they ran a moment after it is done.
bool comes_back_to(long blocks) {
  for (int i = 0; i < 50 && live_blocks() != blocks; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return live_blocks() == blocks;
}

// The next site of a call that succeeds otherwise. False if it has no such site.
bool fail_at(const Call& call, uint64_t seed, int site, bool all_others) {
  Outcome outcome;
  bool is_back = false, has_reason = false;
  // Other threads may have kept something meanwhile, or come too late. A mistake comes back.
  for (int tries = 0; tries < 10 && !(is_back && has_reason); ++tries) {
    const long before = live_blocks();
    outcome = run(call, seed, site, all_others);
    is_back = comes_back_to(before);
    has_reason = outcome.succeeded || (outcome.failed_to_allocate && outcome.says_so);
  }
  expect(is_back, "no block to be leaked or lost: allocation", call.function, site);
  expect(has_reason, "memory as the reason of a failure: allocation", call.function, site);
  expect(site < kMostSites, "an end of allocations", call.function);
  return outcome.failed_to_allocate;
}

}  // namespace

void fail_at_every_site() {
  long all_sites = 0;
  for (const Call& call : all_calls()) {
    int found = 0, allocating = 0;
    long sites = 0;
    for (uint64_t seed = 0; seed < kSeeds && found < kSuccesses && allocating < kAllocating;
         ++seed) {
      // Twice, so that tables have grown to what they need.
      if (!run(call, seed, kNone, false).succeeded || !run(call, seed, kNone, false).succeeded)
        continue;
      const long before = sites;
      for (const bool all_others : {true, false})
        for (int site = 0; fail_at(call, seed, site, all_others); ++site) ++sites;
      ++found, allocating += sites > before;
    }
    expect(found > 0, "a call that succeeds", call.function);
    std::printf("%s %ld\n", call.function, sites);
    all_sites += sites;
  }
  std::printf("%ld sites\n", all_sites);
}

}  // namespace fuzz
