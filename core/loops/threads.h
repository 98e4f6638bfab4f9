// SPDX-License-Identifier: Apache-2.0
// The threads that kernels run on: one pool for the process, started when it is first needed.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/export.h"
#include "base/tuning.h"

namespace softnpu::loops {

// SOFTNPU_THREADS where it is a number from 1 to 1024, else the processors this process may use.
SOFTNPU_EXPORT int thread_count();
// How many of them a job of the calling thread's would get: fewer where it runs on the threads of
// an OpenMP runtime that was set to fewer, as torch.set_num_threads() does. Plans are made for
// these.
SOFTNPU_EXPORT int usable_threads();
// Takes effect from the next kernel on. Values are clamped to 1…1024.
SOFTNPU_EXPORT void set_thread_count(int count);

// A borrowed callable: (begin, end, worker), where worker is below the number of workers.
struct RangeBody {
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, RangeBody>)
  RangeBody(F&& f)  // NOLINT: implicit on purpose, as a function argument is
      : object(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call([](void* borrowed, int64_t begin, int64_t end, int worker) {
          (*static_cast<std::remove_reference_t<F>*>(borrowed))(begin, end, worker);
        }) {}

  using Call = void (*)(void* object, int64_t begin, int64_t end, int worker);
  RangeBody(void* object, Call call) : object(object), call(call) {}

  void* object;
  Call call;
};

// In which order threads work through their parts of a range.
enum class Order : uint8_t {
  forward,
  // Every second such job runs from the end to the beginning, and finds in the cores' own caches
  // what the job before read and wrote last. For operands that only a shared cache holds.
  turning,
};

// Runs `body` over [0, count) in pieces of `grain` or more (large teams: less, kGrainParts), on up
// to `workers` threads, the calling one among them. The body must not throw, and its results must
// not depend on where the pieces are cut. Runs on the calling thread alone when there is no more
// than one piece, while another thread's kernel has the pool, or where an OpenMP runtime is to be
// used and set to one thread.
SOFTNPU_EXPORT void parallel_for(int64_t count, int64_t grain, int workers, RangeBody body,
                                 Order order = Order::forward);

}  // namespace softnpu::loops
