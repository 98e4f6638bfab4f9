// SPDX-License-Identifier: Apache-2.0
// Streams and the functions of the program's that run in them.
#include <pthread.h>

#include <atomic>
#include <iterator>

#include "calls.h"
#include "reporter.h"

namespace fuzz {
namespace {

std::atomic<uint64_t> runs{0};

void count_run(void*) { runs.fetch_add(1, std::memory_order_relaxed); }

// Calls what such a function may call; `stream` may be anything by now.
void call_back(void* stream) {
  aclrtStreamStatus status;
  CALL(aclrtStreamQuery, stream, &status);
  CALL(aclrtLaunchHostFunc, stream, count_run, nullptr);
  CALL(aclrtSynchronizeStreamWithTimeout, stream, 1);
  CALL(aclGetRecentErrMsg);
}

void* stream_of(State& s) { return s.in.once_in(8) ? nullptr : s.pick(kStream); }

aclrtCallback function_of(State& s) {
  if (s.in.once_in(32)) return nullptr;
  return s.in.once_in(32) ? call_back : count_run;
}

void create_stream(State& s) {
  aclrtStream stream = nullptr;
  if (CALL(aclrtCreateStream, s.out(stream)) == 0) s.add(kStream, {stream});
}
void create_stream_with_config(State& s) {
  aclrtStream stream = nullptr;
  const auto priority = static_cast<uint32_t>(s.in.number());
  const auto flag = static_cast<uint32_t>(s.in.enumerator(4));
  if (CALL(aclrtCreateStreamWithConfig, s.out(stream), priority, flag) == 0)
    s.add(kStream, {stream});
}
void destroy_stream(State& s) {
  s.let_waits_end();
  s.others_run = true;
  destroy_thing(s, kStream, s.pick(kStream));
}
void destroy_stream_by_force(State& s) {
  s.others_run = true;
  void* stream = s.pick(kStream);
  CALL(aclrtDestroyStreamForce, stream);
  int32_t id = 0;
  Thing* thing = s.find(kStream, stream);
  if (thing != nullptr) thing->is_live = CALL(aclrtStreamGetId, stream, &id) == 0;
}
void synchronize_stream(State& s) {
  s.let_waits_end();
  void* stream = stream_of(s);
  CALL(aclrtSynchronizeStream, stream);
}
void synchronize_stream_in_time(State& s) {
  void* stream = stream_of(s);
  CALL(aclrtSynchronizeStreamWithTimeout, stream, s.in.once_in(4) ? -7 : 1);
}
void query_stream(State& s) {
  aclrtStreamStatus status;
  void* stream = stream_of(s);
  CALL(aclrtStreamQuery, stream, s.out(status));
}
void stream_id(State& s) {
  int32_t id;
  void* stream = stream_of(s);
  CALL(aclrtStreamGetId, stream, s.out(id));
}
void stream_flags(State& s) {
  uint32_t flags;
  void* stream = stream_of(s);
  CALL(aclrtStreamGetFlags, stream, s.out(flags));
}
void stream_priority(State& s) {
  uint32_t priority;
  void* stream = stream_of(s);
  CALL(aclrtStreamGetPriority, stream, s.out(priority));
}

// Half of the threads are this one, which waits for no callback of its own.
uint64_t thread_of(State& s) {
  switch (s.in.below(8)) {
    case 0:
    case 1:
    case 2:
      return wake_reporter();
    case 3:
      return s.in.bits<uint64_t>();
    default:
      return static_cast<uint64_t>(pthread_self());
  }
}

void subscribe(State& s) {
  void* stream = stream_of(s);
  if (stream == nullptr && CALL(aclrtCtxGetCurrentDefaultStream, &stream) != 0) return;
  const uint64_t thread = thread_of(s);
  if (CALL(aclrtSubscribeReport, thread, stream) != 0) return;
  s.subscriptions.push_back({thread, stream});
  if (thread == static_cast<uint64_t>(pthread_self())) return;
  s.others_run = true;
  s.nobody_runs |= thread != wake_reporter();
}
void unsubscribe(State& s) {
  s.others_run = true;
  if (s.subscriptions.empty() || s.in.once_in(8)) {
    CALL(aclrtUnSubscribeReport, thread_of(s), s.pick(kStream));
    return;
  }
  const Subscription& one = s.subscriptions[s.in.byte() % s.subscriptions.size()];
  CALL(aclrtUnSubscribeReport, one.thread, one.stream);
}
void launch_callback(State& s) {
  if (s.subscriptions.empty()) subscribe(s);
  void* stream = stream_of(s);
  if (!s.subscriptions.empty() && !s.in.once_in(4)) stream = s.subscriptions.back().stream;
  const auto type = static_cast<aclrtCallbackBlockType>(s.in.enumerator(2));
  CALL(aclrtLaunchCallback, function_of(s), stream, type, stream);
}
// What it lets go on may do so in other threads.
void process_report(State& s) {
  s.others_run = true;
  CALL(aclrtProcessReport, s.in.once_in(8) ? 0 : 1);
}
void launch_host_function(State& s) {
  void* stream = stream_of(s);
  s.others_run = true;
  CALL(aclrtLaunchHostFunc, stream, function_of(s), stream);
}

constexpr Call kCalls[] = {
    {"aclrtCreateStream", create_stream},
    {"aclrtCreateStreamWithConfig", create_stream_with_config},
    {"aclrtDestroyStream", destroy_stream},
    {"aclrtDestroyStreamForce", destroy_stream_by_force},
    {"aclrtSynchronizeStream", synchronize_stream},
    {"aclrtSynchronizeStreamWithTimeout", synchronize_stream_in_time, 2},
    {"aclrtStreamQuery", query_stream},
    {"aclrtStreamGetId", stream_id},
    {"aclrtStreamGetFlags", stream_flags},
    {"aclrtStreamGetPriority", stream_priority},
    {"aclrtSubscribeReport", subscribe},
    {"aclrtUnSubscribeReport", unsubscribe},
    {"aclrtLaunchCallback", launch_callback},
    {"aclrtProcessReport", process_report, 8},
    {"aclrtLaunchHostFunc", launch_host_function},
};

}  // namespace

Room stream_calls() { return {kCalls, std::size(kCalls)}; }

void make_stream(State& s) {
  aclrtStream stream = nullptr;
  if (CALL(aclrtCreateStream, &stream) == 0) s.add(kStream, {stream});
}

}  // namespace fuzz
