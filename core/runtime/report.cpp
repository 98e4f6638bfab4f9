// SPDX-License-Identifier: Apache-2.0
#include "runtime/report.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "acl/acl_rt.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "base/observer.h"
#include "runtime/capture.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

struct Pending {
  int32_t stream_id;
  Callback callback;
  std::shared_ptr<void> user_data;
  std::shared_ptr<Gate> gate;                  // null if the stream does not wait
  std::shared_ptr<std::atomic<bool>> dropped;  // set if it was dropped; a waiting stream reports it
};

struct Inbox {
  std::list<Pending> pending;  // a list, because splice() does not allocate
  std::condition_variable arrived;
  int streams = 0;
};

struct Reports {
  Reports() { keep_free_over_fork(*this, LockRank::inner); }

  void lock_for_fork() { mutex.lock(); }
  void unlock_after_fork() { mutex.unlock(); }
  // Removes subscriptions of the parent's threads, except the one that called fork().
  void renew_in_forked_child() {
    std::construct_at(&mutex);
    std::construct_at(&subscribed);
    const auto self = static_cast<uint64_t>(pthread_self());
    std::erase_if(threads, [=](const auto& entry) { return entry.second != self; });
    std::erase_if(inboxes, [=](const auto& entry) { return entry.first != self; });
    for (const auto& [thread, inbox] : inboxes) std::construct_at(&inbox->arrived);
  }

  std::mutex mutex;
  std::condition_variable subscribed;
  std::map<uint64_t, std::shared_ptr<Inbox>> inboxes;  // by thread, while it has subscriptions
  std::map<int32_t, uint64_t> threads;                 // by stream id
};

Reports& reports() { return lasting<Reports>; }

Status not_subscribed() {
  return fail("stream-not-subscribed"_rule, kRtStreamNoCallback,
              "no thread runs the stream's callbacks; call aclrtSubscribeReport first");
}

Status thread_not_subscribed() {
  return fail(
      "thread-not-subscribed"_rule, kRtParamInvalid,
      "the calling thread runs the callbacks of no stream; call aclrtSubscribeReport first");
}

// Requires the lock. Removes and returns the pending callbacks of a stream.
std::list<Pending> take_pending(Inbox& inbox, int32_t stream_id) {
  std::list<Pending> left;
  for (auto next = inbox.pending.begin(); next != inbox.pending.end();) {
    const auto each = next++;
    if (each->stream_id == stream_id) left.splice(left.end(), inbox.pending, each);
  }
  return left;
}

// The same, and ends the thread's subscription.
std::list<Pending> end_subscription(std::map<int32_t, uint64_t>::iterator subscription) {
  const uint64_t thread = subscription->second;
  const auto inbox = reports().inboxes.at(thread);
  auto left = take_pending(*inbox, subscription->first);
  reports().threads.erase(subscription);
  if (--inbox->streams == 0) reports().inboxes.erase(thread);
  inbox->arrived.notify_all();
  return left;
}

// Must be called without the lock, because waiting streams continue. Returns the number of
// callbacks for which no stream waits; no other work reports them.
size_t drop(const std::list<Pending>& callbacks) {
  size_t unawaited = 0;
  for (const Pending& callback : callbacks) {
    callback.dropped->store(true, std::memory_order_relaxed);
    if (callback.gate)
      callback.gate->open();
    else
      ++unawaited;
  }
  return unawaited;
}

// Runs a callback. A waiting stream continues even if it throws.
void run(const Pending& callback) {
  struct AtEnd {
    Gate* const gate;
    ~AtEnd() {
      if (gate == nullptr) return;
      notify(&Observer::called);
      gate->open();
    }
  } const at_end{callback.gate.get()};
  const void* const mark = callback.dropped.get();
  notify(&Observer::saw_mark, mark);
  if (callback.gate) notify(&Observer::calling, mark);
  callback.callback(callback.user_data.get());
}

// Hands the only callback in the list to its thread, when the stream's order has reached it. Does
// not allocate.
Status hand_over(std::list<Pending>& one) {
  const Pending& callback = one.front();
  {
    std::lock_guard lock(reports().mutex);
    const auto thread = reports().threads.find(callback.stream_id);
    if (thread != reports().threads.end()) {
      if (callback.gate) callback.gate->set_opener(thread->second);
      Inbox& inbox = *reports().inboxes.at(thread->second);
      inbox.pending.splice(inbox.pending.end(), one);
      inbox.arrived.notify_all();
      return {};
    }
  }
  if (callback.gate) callback.gate->open();
  return not_subscribed();
}

// Runs work of the streams whose callbacks the thread runs. Returns whether any ran.
bool advance_streams(std::unique_lock<std::mutex>& lock, uint64_t thread) {
  std::set<int32_t> ids;
  for (const auto& [id, subscriber] : reports().threads)
    if (subscriber == thread) ids.insert(id);
  lock.unlock();
  bool advanced = false;
  for (const auto& stream : all_streams())
    if (ids.contains(stream->id())) advanced |= scheduler().on_poll(*stream);
  lock.lock();
  return advanced;
}

}  // namespace

Status subscribe(uint64_t thread, const Stream& stream) {
  auto fresh = std::make_shared<Inbox>();
  std::lock_guard lock(reports().mutex);
  if (reports().threads.contains(stream.id()))
    return fail("stream-subscribed-already"_rule, kRtParamInvalid,
                "a thread is subscribed to the stream already; only one may be");
  const auto [inbox, is_new] = reports().inboxes.emplace(thread, std::move(fresh));
  try {
    reports().threads.emplace(stream.id(), thread);
  } catch (const std::bad_alloc&) {
    if (is_new) reports().inboxes.erase(inbox);
    throw;
  }
  ++inbox->second->streams;
  reports().subscribed.notify_all();
  return {};
}

Status unsubscribe(uint64_t thread, const Stream& stream) {
  std::list<Pending> dropped;
  {
    std::lock_guard lock(reports().mutex);
    const auto subscription = reports().threads.find(stream.id());
    if (subscription == reports().threads.end()) return not_subscribed();
    if (subscription->second != thread)
      return fail("other-thread-subscribed"_rule, kRtParamInvalid,
                  "another thread than threadId is subscribed to the stream");
    dropped = end_subscription(subscription);
  }
  drop(dropped);
  return {};
}

size_t drop_callbacks(const Stream& stream, Subscription then) {
  std::list<Pending> dropped;
  {
    std::lock_guard lock(reports().mutex);
    const auto subscription = reports().threads.find(stream.id());
    if (subscription == reports().threads.end()) return 0;
    dropped = then == Subscription::ends
                  ? end_subscription(subscription)
                  : take_pending(*reports().inboxes.at(subscription->second), stream.id());
  }
  return drop(dropped);
}

Status launch_callback(const void* stream_handle, Callback callback,
                       std::shared_ptr<void> user_data, int32_t block_type) {
  if (block_type != ACL_CALLBACK_NO_BLOCK && block_type != ACL_CALLBACK_BLOCK)
    return fail("block-type"_rule, kRtParamInvalid, "blockType is ", block_type,
                "; it must be ACL_CALLBACK_NO_BLOCK (0) or ACL_CALLBACK_BLOCK (1)");
  const bool blocks = block_type == ACL_CALLBACK_BLOCK;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  RETURN_IF_FAILED(require_not_captured(*stream));
  {
    std::lock_guard lock(reports().mutex);
    if (!reports().threads.contains(stream->id())) return not_subscribed();
  }
  auto dropped = std::make_shared<std::atomic<bool>>(false);
  const auto gate = blocks ? std::make_shared<Gate>(std::weak_ptr<Queue>()) : nullptr;
  const auto one = std::make_shared<std::list<Pending>>();
  one->push_back({stream->id(), callback, std::move(user_data), gate, dropped});
  notify(&Observer::recorded, dropped.get(), stream->id());
  constexpr std::string_view name = "aclrtLaunchCallback";
  Work hands_over{[one] { return hand_over(*one); }, name, nullptr, nullptr};
  if (!blocks) return stream->submit(std::move(hands_over));
  Task after = [dropped]() -> Status {
    if (!dropped->load(std::memory_order_relaxed)) return {};
    return fail("callback-dropped"_rule, kRtParamInvalid,
                "the callback did not run: its thread was unsubscribed before");
  };
  Work works[] = {std::move(hands_over), {std::move(after), name, gate, nullptr}};
  return stream->submit(works);
}

Status process_reports(const Deadline& deadline) {
  const auto self = static_cast<uint64_t>(pthread_self());
  std::unique_lock lock(reports().mutex);
  // Programs start the thread and let it wait before they subscribe it.
  while (!reports().inboxes.contains(self))
    if (deadline.milliseconds == 0 || !wait(reports().subscribed, lock, deadline))
      return thread_not_subscribed();
  const std::shared_ptr<Inbox> inbox = reports().inboxes.at(self);
  while (inbox->pending.empty()) {
    if (inbox->streams == 0) return thread_not_subscribed();  // unsubscribed during the call
    if (scheduler().defers() && advance_streams(lock, self)) continue;
    if (!wait(inbox->arrived, lock, deadline) && inbox->pending.empty())
      return fail("no-callback-in-time"_rule, kRtStreamSyncTimeout,
                  "no callback came within the timeout of ", deadline.milliseconds, " ms");
  }
  // Runs only the current ones, because callbacks may launch callbacks without end.
  for (size_t left = inbox->pending.size(); left > 0 && !inbox->pending.empty(); --left) {
    const Pending pending = std::move(inbox->pending.front());
    inbox->pending.pop_front();
    lock.unlock();
    run(pending);
    lock.lock();
  }
  return {};
}

}  // namespace softnpu::runtime
