// SPDX-License-Identifier: Apache-2.0
#include "copies.h"

#include "aliases.h"
#include "late.h"
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

void queue(const Tensor& to, const Tensor& from, DeviceIndex index) {
  const c10::Stream stream = current_stream(index);
  if (is_tracked()) {
    keep_until_waited(stream, to.storage());
    keep_until_waited(stream, from.storage());
  }
  check(aclrtMemcpyAsync(to.mutable_data_ptr(), to.nbytes(), from.const_data_ptr(), from.nbytes(),
                         ACL_MEMCPY_DEFAULT, handle_of(stream)),
        "aclrtMemcpyAsync");
  if (launch_is_blocking() || kept_is_full()) synchronize(stream);
}

c10::SmallVector<Use, 8> uses_of(const Tensor& to, const Tensor& from) {
  c10::SmallVector<Use, 8> uses;
  if (is_npu(from)) uses.push_back({"src", from, false});
  if (is_npu(to)) uses.push_back({"self", to, true});
  return uses;
}

}  // namespace

Tensor& copy_(Tensor& to, const Tensor& from, bool non_blocking) {
  const DeviceIndex index = (is_npu(to) ? to : from).device().index();
  if (non_blocking && can_be_queued(to, from)) {
    queue(to, from, index);
    return to;
  }
  const bool tracked = is_tracked();
  const bool on_device = is_npu(to) && is_npu(from) && to.device() == from.device();
  if (tracked) run_work_before(index, on_device ? Waits::stream : Waits::host);
  const int64_t began = tracked ? now() : 0;
  const Tensor written = cpu_alias(to);
  const bool late = tracked && on_device && results_are_late(index);
  const Tensor before = late ? written.clone() : Tensor();
  written.copy_(cpu_alias(from));
  if (late) {
    delay(index, "aten::copy_", {{written, to.storage(), before}}, uses_of(to, from));
  } else if (tracked) {
    note_work(index, "aten::copy_", began, uses_of(to, from));
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
