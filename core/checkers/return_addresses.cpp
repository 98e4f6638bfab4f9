// SPDX-License-Identifier: Apache-2.0
// Unwinding takes microseconds, and a program's loop calls from the same stacks again and again. So
// each thread keeps the stacks that it has had, with the places in memory of their return
// addresses. A stack is one of them if all these places hold the same addresses. This is so where a
// call stores its return address just below its caller's frame, as on x86-64; other stacks are not
// kept.
#include "checkers/return_addresses.h"

#include <pthread.h>
#include <unwind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/exit_key.h"
#include "base/lasting.h"

namespace softnpu::checkers {
namespace {

constexpr size_t kDeepest = 32;
constexpr size_t kKept = 256;

struct Trace {
  std::vector<void*> addresses;
  std::vector<void* const*>
      places;  // of all addresses but the first; empty if it is not to be kept

  bool is_now(const void* frame) const {
    if (places.empty() || places.front() != frame) return false;
    for (size_t i = 0; i < places.size(); ++i)
      if (*places[i] != addresses[i + 1]) return false;
    return true;
  }
};

using Kept = std::array<std::shared_ptr<const Trace>, kKept>;

// The thread's traces; null before its first, and after its thread-local objects are destroyed.
thread_local constinit Kept* kept = nullptr;
thread_local constinit bool has_ended = false;

void delete_kept(void* mine) {
  has_ended = true;
  kept = nullptr;
  delete static_cast<Kept*>(mine);
}

// The end of the thread's stack; 0 if it is unknown.
uintptr_t find_end_of_stack() {
  pthread_attr_t about;
  if (pthread_getattr_np(pthread_self(), &about) != 0) return 0;
  void* begin = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&about, &begin, &size);
  pthread_attr_destroy(&about);
  return reinterpret_cast<uintptr_t>(begin) + size;
}

// Signal handlers and coroutines have stacks of their own.
bool is_on_own_stack(void* const* place, const void* frame) {
  thread_local const uintptr_t end = find_end_of_stack();
  return static_cast<const void*>(place) >= frame &&
         reinterpret_cast<uintptr_t>(place) + sizeof(void*) <= end;
}

struct Unwinding {
  Trace& trace;
  const void* frame;  // the first place
  bool is_kept = true;
};

_Unwind_Reason_Code add(_Unwind_Context* context, void* data) {
  auto& [trace, frame, is_kept] = *static_cast<Unwinding*>(data);
  auto* const address = reinterpret_cast<void*>(_Unwind_GetIP(context));
  auto* const place = reinterpret_cast<void* const*>(_Unwind_GetCFA(context)) - 1;
  if (address == nullptr) return _URC_END_OF_STACK;
  if (!trace.addresses.empty()) {
    is_kept = is_kept && is_on_own_stack(place, frame) && *place == address;
    trace.places.push_back(place);
  }
  trace.addresses.push_back(address);
  return trace.addresses.size() < kDeepest ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::shared_ptr<const Trace>* place_for(const void* frame, const void* hint) {
  if (has_ended) return nullptr;
  if (kept == nullptr) {
    kept = new (std::nothrow) Kept;
    lasting<ExitKey<delete_kept>>.keep(kept);
  }
  if (kept == nullptr) return nullptr;
  const uintptr_t mixed = (reinterpret_cast<uintptr_t>(frame) >> 4) * 31 +
                          reinterpret_cast<uintptr_t>(hint) * 0x9E3779B97F4A7C15u;
  return &(*kept)[(mixed >> 32) % kKept];
}

}  // namespace

[[gnu::noinline]] ReturnAddresses return_addresses(const void* hint) {
  // Where this function's return address is.
  void* const* const frame = static_cast<void* const*>(__builtin_frame_address(0)) + 1;
  std::shared_ptr<const Trace>* const place = place_for(frame, hint);
  if (place != nullptr && *place && (*place)->is_now(frame)) return {*place, &(*place)->addresses};
  const auto trace = std::make_shared<Trace>();
  trace->addresses.reserve(kDeepest);
  trace->places.reserve(kDeepest);
  Unwinding unwinding{*trace, frame};
  _Unwind_Backtrace(&add, &unwinding);
  if (!unwinding.is_kept) trace->places.clear();
  if (place != nullptr && !trace->places.empty()) *place = trace;
  return {trace, &trace->addresses};
}

}  // namespace softnpu::checkers
