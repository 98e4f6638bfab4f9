// SPDX-License-Identifier: Apache-2.0
#include "checkers/order.h"

#include <algorithm>
#include <utility>

#include "checkers/idle.h"
#include "checkers/in_flight.h"
#include "checkers/ledger.h"
#include "tensor/handles.h"
#include "tensor/overlap.h"

namespace softnpu::checkers {
namespace {

Tensor view_of(const Access& access) {
  Tensor view;
  view.data = access.first;
  view.sizes = Dims(std::span(access.sizes));
  view.strides = Dims(std::span(access.strides));
  view.dtype = access.dtype;
  return view;
}

struct Bytes {
  uintptr_t begin, end;
};

// The bytes that a view spans; none if it is empty.
Bytes span_of(const Tensor& view) {
  if (view.numel() == 0) return {0, 0};
  const Bounds bounds(view);
  return {static_cast<uintptr_t>(bounds.low()), static_cast<uintptr_t>(bounds.end())};
}

struct Freeing {
  const char* function;
  const char* argument;
};

constexpr Freeing kFreeing[] = {{"aclrtFree", "devPtr"},
                                {"aclrtFreeHost", "hostPtr"},
                                {"aclrtUnmapMem", "virPtr"},
                                {"aclrtIpcMemClose", "key"}};

constexpr std::string_view kNotAwaited = ": nothing has waited for that work since it was launched";

// The callback that this thread runs, by its mark, while its stream waits for it.
thread_local const void* running_callback = nullptr;

// For a program whose work is that of PyTorch's operators, what it calls.
std::string in_pytorch(std::string_view work, std::string_view call) {
  return work.find("::") == work.npos ? "" : text(" In PyTorch: ", call, ".");
}

std::string stream_name(int32_t stream) { return text("stream ", stream); }

}  // namespace

OrderChecker::OrderChecker(Tools tools) : tools_(tools) {
  in_flight().ask_first([this](const Point& point) {
    std::lock_guard lock(mutex_);
    return is_held(point);
  });
}

bool OrderChecker::is_held(const Point& work) const {
  return std::ranges::any_of(
      functions_, [&](const auto& function) { return is_at_or_after(work, function.second); });
}

void OrderChecker::launched(const Piece& piece) {
  const SharedSite site = current_site();
  std::vector<Conflict> found;
  {
    std::lock_guard lock(mutex_);
    found = conflicts(piece);
    const Point point = order_.append(piece.stream);
    if (piece.kind == Piece::Kind::host_function) functions_[&piece] = point;
    forget_known();
    add_records(piece, point, site, records_);
    in_flight().add(piece, point, site);
  }
  for (const Conflict& conflict : found) report_race(piece, conflict);
}

void OrderChecker::captured(const Piece& piece, const CapturedPlace& place) {
  const SharedSite site = current_site();
  std::vector<Conflict> found;
  {
    std::lock_guard lock(mutex_);
    Records& all = captured_[place.graph];
    found =
        conflicts(piece, all, [&](const Point& point) { return has_reached(place.before, point); });
    add_records(piece, {piece.stream, place.before.at(piece.stream) + 1}, site, all);
  }
  for (const Conflict& conflict : found) report_race(piece, conflict);
}

void OrderChecker::destroyed(HandleKind kind, const void* handle) {
  if (kind != HandleKind::graph) return;
  std::lock_guard lock(mutex_);
  captured_.erase(handle);
}

void OrderChecker::started(const Piece& piece) {
  if (piece.kind == Piece::Kind::host_function) wait_until_others_sleep();
  in_flight().begin(piece);
  std::vector<Conflict> found;
  {
    std::lock_guard lock(mutex_);
    if (const auto function = functions_.find(&piece); function != functions_.end()) {
      order_.host_saw(function->second);
      forget_in_flight();
    }
    if (piece.stream != Piece::kHostThread) return;
    found = conflicts(piece);
    std::erase_if(found, [this](const Conflict& one) { return is_held(one.earlier.point); });
  }
  for (const Conflict& conflict : found) report_host(piece, conflict);
}

void OrderChecker::finished(const Piece& piece, const Status&) {
  in_flight().end(piece);
  if (piece.kind != Piece::Kind::host_function) return;
  std::lock_guard lock(mutex_);
  functions_.erase(&piece);
}

void OrderChecker::calling(const void* mark) {
  std::lock_guard lock(mutex_);
  const auto found = marks_.find(mark);
  if (found == marks_.end()) return;
  functions_[mark] = found->second.point;
  running_callback = mark;
}

void OrderChecker::called() {
  std::lock_guard lock(mutex_);
  functions_.erase(std::exchange(running_callback, nullptr));
}

void OrderChecker::releasing(runtime::Family family, const std::byte* base, size_t size) {
  const auto [function, argument] = kFreeing[static_cast<size_t>(family)];
  const Piece whole{.kind = Piece::Kind::fill,
                    .what = function,
                    .accesses = {{.name = argument,
                                  .writes = true,
                                  .first = const_cast<std::byte*>(base),
                                  .dtype = DType::u8,
                                  .sizes = {static_cast<int64_t>(size)},
                                  .strides = {1}}}};
  std::vector<Conflict> found;
  {
    std::lock_guard lock(mutex_);
    found = conflicts(whole);
    const Tensor view = view_of(whole.accesses.front());
    const auto [begin, end] = span_of(view);
    records_.erase_that_meet(begin, end,
                             [&](const Record& one) { return overlaps(one.view, view); });
    in_flight().forget(base, size);
  }
  if (found.empty() || !tools_.have(Tool::memcheck)) return;
  const Record& use = found.front().earlier;
  Finding finding{Tool::memcheck,
                  "freed-in-use",
                  text(whole.what, " frees memory that ", use.what, " on ",
                       stream_name(use.point.stream), " may still use as ", use.name, kNotAwaited),
                  {},
                  text("Synchronise the stream before you free memory that its work uses.",
                       in_pytorch(use.what, "tensor.record_stream(stream)"))};
  finding.parts.push_back({"freed by this call", current_site()});
  finding.parts.push_back({"the work was launched here", use.site});
  add_history("the memory", use.view.data, finding);
  report(finding);
}

void OrderChecker::recorded(const void* mark, int32_t stream) {
  std::lock_guard lock(mutex_);
  marks_[mark] = {order_.append(stream)};
}

void OrderChecker::resetting(const void* mark) {
  std::lock_guard lock(mutex_);
  if (const auto found = marks_.find(mark); found != marks_.end()) found->second.is_reset = true;
}

void OrderChecker::held_back(int32_t stream, const void* mark) {
  {
    std::lock_guard lock(mutex_);
    const auto found = marks_.find(mark);
    if (mark != nullptr && found == marks_.end()) return;  // recorded before the checks began
    if (mark != nullptr && !found->second.is_reset) {
      auto& [point, is_reset, waits] = found->second;
      order_.wait(stream, point);
      waits[stream] = order_.end_of(stream);
      return;
    }
  }
  report_unrecorded();
}

void OrderChecker::saw_mark(const void* mark) {
  {
    std::lock_guard lock(mutex_);
    const auto found = marks_.find(mark);
    if (mark != nullptr && found == marks_.end()) return;
    if (mark != nullptr && !found->second.is_reset) {
      order_.host_saw(found->second.point);
      return forget_in_flight();
    }
  }
  // A query of an event without a recording answers that it is not complete.
  if (current_site()->function.starts_with("aclrtSynchronize")) report_unrecorded();
}

void OrderChecker::saw_waits(const void* mark) {
  std::lock_guard lock(mutex_);
  const auto found = marks_.find(mark);
  if (found == marks_.end()) return;
  for (const auto& [stream, wait] : std::exchange(found->second.waits, {})) order_.host_saw(wait);
  order_.host_saw(found->second.point);
  forget_in_flight();
}

void OrderChecker::saw_end(int32_t stream) {
  std::lock_guard lock(mutex_);
  order_.host_saw(order_.end_of(stream));
  forget_in_flight();
  order_.forget(stream);
  std::erase_if(functions_, [=](const auto& one) { return one.second.stream == stream; });
}

void OrderChecker::forget_in_flight() const {
  in_flight().forget([this](const Point& point) { return order_.host_knows(point); });
}

std::vector<OrderChecker::Conflict> OrderChecker::conflicts(const Piece& piece) const {
  const auto is_done = [&](const Point& point) {
    return piece.stream == Piece::kHostThread ? order_.host_knows(point)
                                              : order_.is_before_next(point, piece.stream);
  };
  return conflicts(piece, records_, is_done);
}

template <class IsDone>
std::vector<OrderChecker::Conflict> OrderChecker::conflicts(const Piece& piece, const Records& all,
                                                            IsDone is_done) {
  std::vector<Conflict> found;
  for (const Access& access : piece.accesses) {
    const Tensor view = view_of(access);
    const auto [begin, end] = span_of(view);
    all.for_each_that_meets(begin, end, [&](const Record& record) {
      if (record.point.stream != piece.stream && (record.writes || access.writes) &&
          !is_done(record.point) && overlaps(record.view, view))
        found.push_back({record, access});
    });
  }
  return found;
}

void OrderChecker::add_records(const Piece& piece, const Point& point, const SharedSite& site,
                               Records& all) {
  for (const Access& access : piece.accesses) {
    const Tensor view = view_of(access);
    const auto [begin, end] = span_of(view);
    // Every access that conflicts with the older one conflicts with this one, which ends later.
    all.erase_that_meet(begin, end, [&](const Record& older) {
      return older.point.stream == piece.stream && older.writes <= access.writes &&
             is_same_view(older.view, view);
    });
    if (begin < end)
      all.add(begin, end, {piece.what, access.name, access.writes, view, point, site});
  }
}

// Not at each launch, so that its time does not grow with the work in flight.
void OrderChecker::forget_known() {
  if (records_.size() < most_records_) return;
  records_.erase_if([this](const Record& record) { return order_.host_knows(record.point); });
  most_records_ = std::max(kMostRecords, 2 * records_.size());
}

void OrderChecker::report_race(const Piece& piece, const Conflict& conflict) const {
  if (!tools_.have(Tool::racecheck)) return;
  const auto& [earlier, later] = conflict;
  const auto does = [](bool writes) { return writes ? " writes " : " reads "; };
  Finding finding{Tool::racecheck,
                  "stream-race",
                  text(piece.what, " on ", stream_name(piece.stream), does(later.writes),
                       later.name, ", which ", earlier.what, " on ",
                       stream_name(earlier.point.stream), does(earlier.writes), "as ", earlier.name,
                       ": no event and no synchronisation orders the two"),
                  {},
                  text("Record an event in the one stream after its work, and let the other wait "
                       "for it (aclrtStreamWaitEvent).",
                       in_pytorch(text(piece.what, earlier.what),
                                  "stream.wait_stream(other); or, if the memory was another "
                                  "tensor's before, record_stream(stream) of that one"))};
  finding.parts.push_back({"launched here", current_site()});
  finding.parts.push_back({"the other was launched here", earlier.site});
  add_history("the memory", later.first, finding);
  report(finding);
}

void OrderChecker::report_host(const Piece& piece, const Conflict& conflict) const {
  const auto& [earlier, later] = conflict;
  const Tool tool = later.writes ? Tool::memcheck : Tool::synccheck;
  if (!tools_.have(tool)) return;
  Finding finding{
      tool,
      later.writes ? "overwritten-in-use" : "unsynchronized-read",
      text(piece.what, later.writes ? " writes" : " reads", " memory that ", earlier.what, " on ",
           stream_name(earlier.point.stream),
           earlier.writes ? " may still write as " : " may still read as ", earlier.name,
           kNotAwaited),
      {},
      text("Synchronise the stream before the host touches memory that its work uses; aclrtMemcpy "
           "and aclrtMemset do not wait for streams.",
           in_pytorch(earlier.what, "torch.npu.synchronize()"))};
  finding.parts.push_back({"by this call", current_site()});
  finding.parts.push_back({"the work was launched here", earlier.site});
  add_history("the memory", later.first, finding);
  report(finding);
}

void OrderChecker::report_unrecorded() const {
  if (!tools_.have(Tool::synccheck)) return;
  const SharedSite here = current_site();
  Finding finding{Tool::synccheck,
                  "unrecorded-event",
                  text(here->function,
                       ": event was not recorded, or was reset since: this call waits for nothing"),
                  {},
                  "Record the event (aclrtRecordEvent) before anything waits for it."};
  finding.parts.push_back({"by this call", here});
  report(finding);
}

}  // namespace softnpu::checkers
