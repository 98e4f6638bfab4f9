// SPDX-License-Identifier: Apache-2.0
#include "runtime/outside_work.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/observer.h"
#include "runtime/scheduler.h"
#include "runtime/stream.h"

namespace softnpu::runtime {
namespace {

// Describes an access; in bytes, if its elements are of an unknown type.
Access described(const OutsideAccess& given) {
  const bool is_known = given.type >= 0;
  const auto item = is_known ? 1 : static_cast<int64_t>(given.item_size);
  Access access{.name = given.name,
                .writes = given.writes,
                .first = static_cast<std::byte*>(const_cast<void*>(given.first)),
                .dtype = is_known ? static_cast<DType>(given.type) : DType::u8,
                .sizes = {given.sizes, given.sizes + given.rank},
                .strides = {}};
  for (size_t i = 0; i < given.rank; ++i) access.strides.push_back(given.strides[i] * item);
  if (is_known) return access;
  access.sizes.push_back(item);
  access.strides.push_back(1);
  return access;
}

std::shared_ptr<Piece> described(const char* what, const OutsideAccess* accesses, size_t count) {
  auto piece = std::make_shared<Piece>(Piece{.kind = Piece::Kind::kernel, .what = what});
  for (size_t i = 0; i < count; ++i) piece->accesses.push_back(described(accesses[i]));
  return piece;
}

void run_all(Stream& stream) {
  (void)stream.wait(stream.appended(), {}, kRtStreamSyncTimeout, "the stream's work");
}

}  // namespace

bool is_observed() { return softnpu::is_observed(); }

bool runs_at_once() { return !scheduler().defers(); }

void run_work_before(void* handle) {
  std::shared_ptr<Stream> stream;
  if (find_stream(handle, stream).ok()) run_all(*stream);
}

void note_work(void* handle, const char* what, int64_t began, const OutsideAccess* accesses,
               size_t count) {
  std::shared_ptr<Stream> stream;
  if (!find_stream(handle, stream).ok()) return;
  const auto piece = described(what, accesses, count);
  piece->began = began;
  (void)launch(handle, what, [] { return Status(); }, piece);
  run_all(*stream);
}

void note_block(const void* base) {
  notify(&Observer::handed_out, static_cast<const std::byte*>(base));
}

void note_kept(const void* handle) { notify(&Observer::kept_by_library, handle); }

void launch_work(void* handle, const char* what, const OutsideAccess* accesses, size_t count,
                 void (*run)(void*), void* state, void (*release)(void*)) {
  const std::shared_ptr<void> kept(state, release);
  const auto task = [kept, run] {
    run(kept.get());
    return Status();
  };
  (void)launch(handle, what, task, described(what, accesses, count));
}

void fail_work(void* handle, const char* what, const char* message) {
  const auto task = [failure = std::string(message)] {
    return fail("index-out-of-range"_rule, kRtAicoreException, failure);
  };
  (void)launch(handle, what, task, described(what, nullptr, 0));
}

}  // namespace softnpu::runtime
