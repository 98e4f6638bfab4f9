// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "base/fault_injection.h"
#include "base/fork.h"
#include "base/handle_table.h"
#include "base/last_error.h"
#include "base/lasting.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/report.h"
#include "runtime/task_groups.h"

namespace softnpu::runtime {
namespace {

using Streams = HandleTable<Stream, HandleKind::stream>;

Streams& streams() { return lasting<Streams>; }

// The streams in use, by id, which is the order of their creation.
class LiveStreams {
 public:
  LiveStreams() { keep_free_over_fork(*this, LockRank::inner); }

  void add(const std::shared_ptr<Stream>& stream) {
    std::lock_guard lock(mutex_);
    by_id_.emplace(stream->id(), stream);
  }

  void remove(const Stream& stream) {
    std::lock_guard lock(mutex_);
    by_id_.erase(stream.id());
  }

  template <class Predicate>
  std::vector<std::shared_ptr<Stream>> all(Predicate wanted) const {
    std::vector<std::shared_ptr<Stream>> found;
    std::lock_guard lock(mutex_);
    collect(wanted, found);
    return found;
  }

  std::vector<std::shared_ptr<Stream>> all_if_free() const {
    std::vector<std::shared_ptr<Stream>> found;
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
      collect([](const Stream&) { return true; }, found);
    return found;
  }

  void lock_for_fork() {
    mutex_.lock();
    try {
      locked_.reserve(by_id_.size());
    } catch (const std::bad_alloc&) {  // fork() will fail, too
      return;
    }
    for (const auto& [id, weak] : by_id_)
      if (auto stream = weak.lock()) locked_.push_back(std::move(stream));
    for (const auto& stream : locked_) stream->lock_for_fork();
  }
  void unlock_after_fork() {
    for (const auto& stream : locked_) stream->unlock_after_fork();
    const auto released = std::exchange(locked_, {});
    mutex_.unlock();
  }
  void renew_in_forked_child() {
    for (const auto& stream : locked_) stream->renew_in_forked_child();
    const auto released = std::exchange(locked_, {});
    std::construct_at(&mutex_);
  }

 private:
  template <class Predicate>
  void collect(Predicate wanted, std::vector<std::shared_ptr<Stream>>& found) const {
    for (const auto& [id, weak] : by_id_)
      if (auto stream = weak.lock(); stream && wanted(*stream)) found.push_back(std::move(stream));
  }

  mutable std::mutex mutex_;
  std::map<int32_t, std::weak_ptr<Stream>> by_id_;
  std::vector<std::shared_ptr<Stream>> locked_;  // by a fork()
};
LiveStreams& live() { return lasting<LiveStreams>; }

int32_t next_id() {
  static std::atomic<int32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Stream::Stream(std::shared_ptr<Owner> owner, uint32_t priority, uint32_t flags, bool is_default)
    : Queue(std::move(owner), next_id()),
      priority_(priority),
      flags_(flags),
      is_default_(is_default) {}

std::shared_ptr<Stream> make_stream(std::shared_ptr<Owner> owner, uint32_t priority, uint32_t flags,
                                    bool is_default) {
  auto stream = std::make_shared<Stream>(std::move(owner), priority, flags, is_default);
  stream->handle_ = streams().insert(stream);
  if (stream->handle_ == nullptr) return nullptr;
  try {
    live().add(stream);
  } catch (const std::bad_alloc&) {
    streams().erase(stream->handle_);
    throw;
  }
  return stream;
}

Status find_stream(const void* handle, std::shared_ptr<Stream>& out) {
  if (handle == nullptr) {
    std::shared_ptr<Context> context;
    RETURN_IF_FAILED(current_context(context));
    out = context->default_stream();
    return {};
  }
  out = streams().find(handle);
  if (!out) return dead_handle("stream", handle, HandleKind::stream);
  const Owner& owner = out->owner();
  if (owner.alive.load(std::memory_order_acquire) && owner.context == current_context_handle())
      [[likely]]
    return {};
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(current_context(context));
  return fail("stream-of-other-context"_rule, kRtStreamContext,
              "stream belongs to another context than the current one");
}

Status find_stream_anywhere(const void* handle, std::shared_ptr<Stream>& out) {
  if (handle == nullptr) return find_stream(handle, out);
  out = streams().find(handle);
  return out ? Status() : dead_handle("stream", handle, HandleKind::stream);
}

namespace {

// Called before the work is in the stream, where it may begin immediately.
void notify_launched(const Stream& stream, Piece& piece) {
  piece.stream = stream.id();
  notify(&Observer::launched, piece);
}

Status submit_to(Stream& stream, Work&& work, const std::shared_ptr<Piece>& piece) {
  if (stream.is_captured()) [[unlikely]]
    if (capture(stream, work)) return {};
  if (piece) [[unlikely]]
    notify_launched(stream, *piece);
  return stream.submit(std::move(work));
}

}  // namespace

Status launch(void* stream_handle, std::string_view what, Task task, std::shared_ptr<Piece> piece) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  return submit_to(*stream, {std::move(task), what, nullptr, nullptr, false, piece}, piece);
}

Status launch_host_function(void* stream_handle, std::string_view what, Task task) {
  std::shared_ptr<Piece> piece;
  if (wants_pieces()) [[unlikely]]
    piece = std::make_shared<Piece>(Piece{.kind = Piece::Kind::host_function, .what = what});
  return launch_on_own_thread(stream_handle, what, std::move(task), std::move(piece));
}

Status launch_on_own_thread(void* stream_handle, std::string_view what, Task task,
                            std::shared_ptr<Piece> piece) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  return submit_to(*stream, {std::move(task), what, nullptr, nullptr, true, piece}, piece);
}

void Remains::add(Stream& stream, size_t dropped_work) {
  dropped += dropped_work;
  Status last = stream.take_failure();
  if (last.ok()) return;
  if (failure.ok())
    failure = std::move(last);
  else
    ++others;
}

Status Remains::report(std::string_view function) const {
  // fail() instead of text(), because nothing may throw after the streams are gone.
  const auto drops = dropped == 1 ? " piece of queued work was dropped before running"
                                  : " pieces of queued work were dropped before running";
  if (failure.ok()) {
    if (dropped > 0)
      remember_message(fail("work-dropped"_rule, kRtInternalError, function, ": ", dropped, drops));
    return {};
  }
  Status all = failure;
  if (others > 0)
    all = reword(all, all.message(), " (and work of ", others,
                 others == 1 ? " other stream failed)" : " other streams failed)");
  if (dropped > 0) all = reword(all, all.message(), "; ", dropped, drops);
  return all;
}

Status create_stream(uint32_t priority, uint32_t flags, void** out) {
  RETURN_IF_FAILED(injected_failure(FaultKind::stream));
  if (out == nullptr) return fail("output-pointer-null"_rule, kRtParamInvalid, "stream is null");
  constexpr uint32_t kKnownFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
  if ((flags & ~kKnownFlags) != 0)
    return fail("flag-unknown"_rule, kRtParamInvalid, "flag is ", flags,
                "; it must be a union of ACL_STREAM_FAST_LAUNCH (1) and ACL_STREAM_FAST_SYNC (2)");
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(current_context(context));
  const auto stream = make_stream(context->owner(), priority, flags, false);
  if (!stream) return fail("handle-limit"_rule, kRtResourceAllocFail, "too many streams are alive");
  *out = stream->handle();
  return {};
}

Status destroy_stream(const void* handle, Destroy how) {
  auto stream = streams().find(handle);
  if (!stream) return dead_handle("stream", handle, HandleKind::stream);
  if (stream->is_default())
    return fail("default-stream"_rule, kRtParamInvalid,
                "stream is a context's default stream, which lives as long as it");
  // Waits while the handle still works, so that a failure leaves the stream unchanged.
  if (how == Destroy::finish_work) RETURN_IF_FAILED(require_not_captured(*stream));
  if (how == Destroy::finish_work) RETURN_IF_FAILED(stream->wait_idle({}));
  stream = streams().erase(handle);
  if (!stream)
    return dead_handle("stream", handle, HandleKind::stream);  // another thread destroyed it
  Remains remains;
  if (how == Destroy::drop_work) {
    stream->close();
    remains.dropped = stream->drop_pending();
  }
  retire(*stream, Held::awaited, remains);
  return remains.report(how == Destroy::drop_work ? "aclrtDestroyStreamForce"
                                                  : "aclrtDestroyStream");
}

void finish(Stream& stream, Held held, Remains& remains) {
  drop_tasks(stream);
  remains.dropped += drop_capture(stream);
  forget_dead_groups();
  size_t dropped = 0;
  if (held == Held::dropped) {
    dropped = stream.wait_idle_or_drop();
    dropped += drop_callbacks(stream, Subscription::stays);
  } else if (!stream.runs_on_this_thread() && !stream.wait_idle({}).ok()) {
    dropped = stream.drop_pending();
    (void)stream.wait_idle({});
  }
  remains.add(stream, dropped);
}

void retire(Stream& stream, Held held, Remains& remains) {
  stream.close();
  streams().erase(stream.handle());
  finish(stream, held, remains);
  remains.dropped += drop_callbacks(stream, Subscription::ends);
  live().remove(stream);
}

Status synchronize_stream(const void* handle, Deadline deadline) {
  RETURN_IF_FAILED(injected_failure(FaultKind::sync));
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(handle, stream));
  RETURN_IF_FAILED(require_not_captured(*stream));
  RETURN_IF_FAILED(stream->wait_idle(deadline));
  return stream->take_failure();
}

std::vector<std::shared_ptr<Stream>> streams_of(const Owner& owner) {
  return live().all([&](const Stream& stream) { return &stream.owner() == &owner; });
}

std::vector<std::shared_ptr<Stream>> streams_at_exit() { return live().all_if_free(); }

std::vector<std::shared_ptr<Stream>> streams_of_device(int32_t device) {
  return live().all([=](const Stream& stream) { return stream.owner().device == device; });
}

std::vector<std::shared_ptr<Stream>> all_streams() {
  return live().all([](const Stream&) { return true; });
}

}  // namespace softnpu::runtime
