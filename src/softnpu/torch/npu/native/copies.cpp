// SPDX-License-Identifier: Apache-2.0
#include "copies.h"

#include <algorithm>
#include <vector>

#include "aliases.h"
#include "streams.h"

namespace softnpu::npu {
namespace {

using at::Tensor;

bool is_npu(const Tensor& tensor) { return tensor.device().type() == kNpu; }

// Whether a copy is one of bytes between a device and page-locked memory: others are done at once.
bool can_be_queued(const Tensor& to, const Tensor& from) {
  const Tensor& host = is_npu(to) ? from : to;
  return is_npu(to) != is_npu(from) && to.dtype() == from.dtype() && to.sizes() == from.sizes() &&
         to.is_contiguous() && from.is_contiguous() && to.is_conj() == from.is_conj() &&
         to.is_neg() == from.is_neg() && to.numel() > 0 &&
         PinnedAllocator::holds(host.const_data_ptr());
}

// Work that has not run needs its memory: kept until the program waits for the stream.
struct Queued {
  c10::Stream stream;
  c10::Storage to, from;
};
std::mutex queued_mutex;
std::vector<Queued>& queued() {
  static auto& only = *new std::vector<Queued>;
  return only;
}

void queue(const Tensor& to, const Tensor& from, DeviceIndex index) {
  if (!runtime::runs_at_once()) {
    std::lock_guard lock(queued_mutex);
    queued().push_back({current_stream(index), to.storage(), from.storage()});
  }
  check(aclrtMemcpyAsync(to.mutable_data_ptr(), to.nbytes(), from.const_data_ptr(), from.nbytes(),
                         ACL_MEMCPY_DEFAULT, handle_of(current_stream(index))),
        "aclrtMemcpyAsync");
}

void note_copy(const Tensor& to, const Tensor& from, DeviceIndex index) {
  c10::SmallVector<Use, 8> uses;
  if (is_npu(from)) uses.push_back({"src", from, false});
  if (is_npu(to)) uses.push_back({"self", to, true});
  note_work(index, "aten::copy_", uses);
}

}  // namespace

void forget_copies(c10::ArrayRef<c10::Stream> streams) {
  std::vector<Queued> done;  // released without the lock
  std::unique_lock lock(queued_mutex);
  auto& all = queued();
  for (size_t i = all.size(); i-- > 0;) {
    if (std::find(streams.begin(), streams.end(), all[i].stream) == streams.end()) continue;
    done.push_back(std::move(all[i]));
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Tensor& copy_(Tensor& to, const Tensor& from, bool non_blocking) {
  const DeviceIndex index = (is_npu(to) ? to : from).device().index();
  if (non_blocking && can_be_queued(to, from)) {
    queue(to, from, index);
    return to;
  }
  const bool tracked = is_tracked();
  const bool on_device = is_npu(to) && is_npu(from) && to.device() == from.device();
  if (tracked) run_work_before(index, on_device ? Waits::stream : Waits::host);
  cpu_alias(to).copy_(cpu_alias(from));
  if (tracked) {
    note_copy(to, from, index);
    if (!on_device) run_work_before(index, Waits::host);
  }
  return to;
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool non_blocking) {
  Tensor target = to;
  return copy_(target, from, non_blocking);
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

}  // namespace softnpu::npu
