// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "streams.h"

namespace softnpu::npu {
namespace {

// -1 for a type that the runtime has no name for.
int32_t type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ACL_FLOAT;
    case at::kHalf:
      return ACL_FLOAT16;
    case at::kBFloat16:
      return ACL_BF16;
    case at::kDouble:
      return ACL_DOUBLE;
    case at::kChar:
      return ACL_INT8;
    case at::kByte:
      return ACL_UINT8;
    case at::kShort:
      return ACL_INT16;
    case at::kInt:
      return ACL_INT32;
    case at::kLong:
      return ACL_INT64;
    case at::kBool:
      return ACL_BOOL;
    case at::kComplexFloat:
      return ACL_COMPLEX64;
    case at::kComplexDouble:
      return ACL_COMPLEX128;
    default:
      return -1;
  }
}

}  // namespace

bool is_tracked() {
  static const bool queues = !runtime::runs_at_once();
  return queues || runtime::is_observed();
}

bool launch_is_blocking() {
  const char* const set = std::getenv("ASCEND_LAUNCH_BLOCKING");
  return set != nullptr && std::string_view(set) == "1";
}

void run_work_before(DeviceIndex index, Waits waits) {
  const c10::Stream stream = current_stream(index);
  if (waits == Waits::host)
    synchronize(stream);
  else
    runtime::run_work_before(handle_of(stream));
}

c10::SmallVector<runtime::OutsideAccess, 8> accesses_of(const c10::SmallVectorImpl<Use>& uses) {
  c10::SmallVector<runtime::OutsideAccess, 8> accesses;
  for (const Use& use : uses) {
    if (use.tensor.numel() == 0) continue;
    accesses.push_back({use.name, use.written, use.tensor.const_data_ptr(), type_of(use.tensor),
                        use.tensor.itemsize(), static_cast<size_t>(use.tensor.dim()),
                        use.tensor.sizes().data(), use.tensor.strides().data()});
  }
  return accesses;
}

int64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

void note_work(DeviceIndex index, const char* what, int64_t began,
               const c10::SmallVectorImpl<Use>& uses) {
  if (!runtime::is_observed()) return;
  const auto accesses = accesses_of(uses);
  runtime::note_work(handle_of(current_stream(index)), what, began, accesses.data(),
                     accesses.size());
}

void note_written(DeviceIndex index, const char* what, const void* first, size_t count) {
  if (!runtime::is_observed()) return;
  const auto size = static_cast<int64_t>(count);
  const int64_t stride = 1;
  const runtime::OutsideAccess bytes{"storage", true, first, ACL_UINT8, 1, 1, &size, &stride};
  runtime::note_work(handle_of(current_stream(index)), what, now(), &bytes, 1);
}

}  // namespace softnpu::npu
