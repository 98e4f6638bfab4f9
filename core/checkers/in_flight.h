// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory of copies that the program has not waited for. Its pages are protected,
// so that the program's own reads and writes of it are found.
//
// Only pages are protected that contain no bytes of the program beside those of the copy.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <string_view>
#include <utility>

#include "base/fork.h"
#include "base/lasting.h"
#include "base/observer.h"
#include "checkers/happens_before.h"
#include "checkers/site.h"

namespace softnpu::checkers {

class InFlight {
 public:
  // Nothing is protected before.
  void start() { is_started_ = true; }

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

 private:
  struct Use {
    const Piece* piece;  // compared only
    std::byte* begin;    // of whole pages
    size_t size;
    bool writes;
    Point point;
    std::string_view what;
    const char* name;
    SharedSite site;
    bool is_lifted = false;  // while the library itself accesses the memory

    bool meets(const std::byte* other, size_t count) const {
      return begin < other + count && other < begin + size;
    }
  };
  using Uses = std::list<Use>;

  // Protects pages as all uses of them require.
  void protect(std::byte* begin, size_t size) const;
  template <class Predicate>
  void remove_if(Predicate predicate, Uses& removed);
  static void report_access(const Use& use, const std::byte* address, const char* does);

  bool is_started_ = false;
  std::function<bool(const Point&)> is_held_ = [](const Point&) { return false; };
  ProcessMutex<LockRank::innermost> mutex_;
  Uses uses_;
};

inline InFlight& in_flight() { return lasting<InFlight>; }

}  // namespace softnpu::checkers
