// SPDX-License-Identifier: Apache-2.0
#include "late.h"

#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "streams.h"

namespace softnpu::npu {
namespace {

struct Kept {
  c10::Stream stream;
  c10::Storage storage;
};
constexpr size_t kMostKeptBytes = size_t{256} << 20;
std::mutex kept_mutex;
size_t kept_bytes = 0;
std::vector<Kept>& kept() {
  static auto& only = *new std::vector<Kept>;
  return only;
}

struct Arrival {
  at::Tensor to, value;
};

void arrive(void* state) {
  const at::AutoDispatchBelowADInplaceOrView plain;
  for (Arrival& each : *static_cast<std::vector<Arrival>*>(state)) each.to.copy_(each.value);
}

// NaN is seen in whatever is computed from it. Other types get zeros, which are valid indices.
void hide(const Computed& one) {
  if (one.before.defined())
    one.cpu.copy_(one.before);
  else if (one.cpu.is_floating_point() || one.cpu.is_complex())
    one.cpu.fill_(std::numeric_limits<double>::quiet_NaN());
  else
    one.cpu.zero_();
}

}  // namespace

bool errors_are_late() {
  static const bool defers = !runtime::runs_at_once() && !launch_is_blocking();
  return defers;
}

void fail_late(DeviceIndex index, const char* what, const char* message) {
  runtime::fail_work(handle_of(current_stream(index)), what, message);
}

bool results_are_late(DeviceIndex index) {
  return errors_are_late() && current_stream(index).id() != 0;
}

void delay(DeviceIndex index, const char* what, std::vector<Computed> computed,
           const c10::SmallVectorImpl<Use>& uses) {
  const at::AutoDispatchBelowADInplaceOrView plain;
  const c10::Stream stream = current_stream(index);
  auto arrivals = std::make_unique<std::vector<Arrival>>();
  for (const Computed& one : computed) {
    arrivals->push_back({one.cpu, one.cpu.clone()});
    keep_until_waited(stream, one.device);
  }
  for (const Computed& one : computed) hide(one);
  const auto accesses = accesses_of(uses);
  runtime::launch_work(handle_of(stream), what, accesses.data(), accesses.size(), &arrive,
                       arrivals.release(),
                       [](void* state) { delete static_cast<std::vector<Arrival>*>(state); });
}

void keep_until_waited(const c10::Stream& stream, const c10::Storage& storage) {
  std::lock_guard lock(kept_mutex);
  kept().push_back({stream, storage});
  kept_bytes += storage.nbytes();
}

bool kept_is_full() {
  std::lock_guard lock(kept_mutex);
  return kept_bytes > kMostKeptBytes;
}

void release_kept(c10::ArrayRef<c10::Stream> streams) {
  std::vector<Kept> done;  // released without the lock
  std::lock_guard lock(kept_mutex);
  auto& all = kept();
  const auto first = std::partition(all.begin(), all.end(), [&](const Kept& one) {
    return std::find(streams.begin(), streams.end(), one.stream) == streams.end();
  });
  done.assign(std::make_move_iterator(first), std::make_move_iterator(all.end()));
  all.erase(first, all.end());
  for (const Kept& one : done) kept_bytes -= one.storage.nbytes();
}

}  // namespace softnpu::npu
