// SPDX-License-Identifier: Apache-2.0
// Host memory of copies that the program has not waited for. The pages of page-locked memory are
// protected, so that the program's own reads and writes of it are found. Of other memory it is seen
// when the program frees it.
//
// Only pages are protected that contain no bytes of the program beside those of the copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/lasting.h"
#include "base/observer.h"
#include "checkers/by_address.h"
#include "checkers/happens_before.h"
#include "checkers/site.h"

namespace softnpu::checkers {

class InFlight {
 public:
  // Nothing is protected before.
  void start() { is_started_ = true; }
  // The program's calls of free() and the like are reported by freed(), while there are pageable
  // buffers.
  void start_to_watch_frees() { watches_frees_ = true; }
  const std::atomic<size_t>& pageable_buffers() const { return pageable_; }

  // A copy was put into a stream, at this point of it; its task begins; ends.
  void add(const Piece& piece, const Point& point, const SharedSite& site);
  void begin(const Piece& piece);
  void end(const Piece& piece);

  // Accesses are no mistake while this is true of the copy.
  void ask_first(std::function<bool(const Point&)> is_held) { is_held_ = std::move(is_held); }

  // The program has waited for the copies with these points.
  void forget(const std::function<bool(const Point&)>& is_known);
  // The memory is freed.
  void forget(const std::byte* base, size_t size);

  // Reports an access of the program to such memory, and lets it through: `does` is what it does,
  // in words. False if the fault has another reason.
  bool fault(std::byte* address, bool writes, const char* does);
  // Reports that the program frees such memory. Never waits for a lock, because any code frees.
  void freed(const std::byte* address, size_t size);

 private:
  struct Use {
    Point point;
    std::string_view what;
    const char* name;
    SharedSite site;
  };
  struct Buffer {
    std::byte* begin;
    size_t size;
    bool is_locked;  // its pages are protected, and it consists of whole pages
    std::map<std::pair<int32_t, bool>, Use> uses = {};  // the last of each stream; true: it writes
    int running = 0;
    bool is_open = false;  // another copy accesses it, too
    int protection = kUnknown;

    bool is_written() const;
    int wanted() const;
  };
  using Buffers = std::vector<std::shared_ptr<Buffer>>;

  static constexpr size_t kMost = 10'000;  // a process may have 65,530 mappings
  static constexpr int kUnknown = -1;

  static std::shared_ptr<Buffer> buffer_of(const Access& access);
  std::shared_ptr<Buffer> find(const Buffer& like) const;
  Buffers meeting(const std::byte* begin, size_t size) const;
  void run(const Piece& piece, int change);
  // Protects pages as all uses of them require.
  void protect(std::byte* begin, size_t size) const;
  void remove(const Buffers& removed);
  static void report(const Use& use, bool writes, const std::byte* address, const char* does);
  void report_first(const Buffers& buffers, const std::byte* address, bool changes,
                    const char* does) const;

  bool is_started_ = false, watches_frees_ = false;
  std::function<bool(const Point&)> is_held_ = [](const Point&) { return false; };
  ProcessMutex<LockRank::innermost> mutex_;
  ByAddress<std::shared_ptr<Buffer>> buffers_;
  std::atomic<size_t> pageable_{0};
};

inline InFlight& in_flight() { return lasting<InFlight>; }

}  // namespace softnpu::checkers
