// SPDX-License-Identifier: Apache-2.0
// The threads that kernels run on: one pool for the process, started when it is first needed.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/export.h"
#include "base/tuning.h"

namespace softnpu::loops {

// SOFTNPU_THREADS if it is a number from 1 to 1024, otherwise the processors that this process may
// use.
SOFTNPU_EXPORT int thread_count();
// The number of threads that a job of the calling thread would get: fewer than thread_count() on an
// OpenMP runtime that was set to fewer, as by torch.set_num_threads(). Used for planning.
SOFTNPU_EXPORT int usable_threads();
// Takes effect with the next kernel. The count is clamped to 1…1024.
SOFTNPU_EXPORT void set_thread_count(int count);

// A reference to a callable (begin, end, worker), where worker is below the number of workers.
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

// The order in which threads process their parts of a range.
enum class Order : uint8_t {
  forward,
  // Every second job runs from the end to the beginning, so that it finds the data of the job
  // before in the cores' own caches. For operands that only fit a shared cache.
  turning,
};

// Runs `body` over [0, count) in pieces of at least `grain` (large teams: see kGrainParts), on up
// to `workers` threads including the calling one. The body must not throw, and its results must not
// depend on the division into pieces. Runs on the calling thread alone if there is one piece, if
// another thread's job is running, or if the OpenMP runtime is set to one thread.
SOFTNPU_EXPORT void parallel_for(int64_t count, int64_t grain, int workers, RangeBody body,
                                 Order order = Order::forward);

}  // namespace softnpu::loops
