// SPDX-License-Identifier: Apache-2.0
// An observer that measures the duration of work.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

#include "base/lines.h"
#include "base/observer.h"

namespace softnpu::observers {

// In nanoseconds of CLOCK_MONOTONIC, which all processes share.
struct Span {
  int64_t start;
  int64_t end;

  int64_t length() const { return std::max<int64_t>(end - start, 1); }
};

inline int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

// `Self` has a function ran(piece, status, span), which may throw.
template <class Self>
class Timed : public Observer {
 public:
  void started(const Piece&) final { begin(); }
  void finished(const Piece& piece, const Status& status) final {
    Span span = end();
    if (piece.began != 0) span.start = piece.began;
    quietly([&] { static_cast<Self&>(*this).ran(piece, status, span); });
  }

 protected:
  // The measurements of a thread nest: calls, work, and calls made by that work.
  static void begin() {
    if (depth < kDeepest) starts[depth] = now_ns();
    ++depth;
  }
  static Span end() {
    const int64_t now = now_ns();
    --depth;
    return {depth < kDeepest ? starts[depth] : now, now};
  }

 private:
  static constexpr int kDeepest = 32;
  static inline thread_local constinit int64_t starts[kDeepest] = {};
  static inline thread_local constinit int depth = 0;
};

}  // namespace softnpu::observers
