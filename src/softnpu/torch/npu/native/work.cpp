// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <cstdlib>
#include <string_view>

#include "streams.h"

namespace softnpu::npu {

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
    accesses.push_back({use.name, use.written, use.tensor.const_data_ptr(), use.tensor.itemsize(),
                        static_cast<size_t>(use.tensor.dim()), use.tensor.sizes().data(),
                        use.tensor.strides().data()});
  }
  return accesses;
}

void note_work(DeviceIndex index, const char* what, const c10::SmallVectorImpl<Use>& uses) {
  if (!runtime::is_observed()) return;
  const auto accesses = accesses_of(uses);
  runtime::note_work(handle_of(current_stream(index)), what, accesses.data(), accesses.size());
}

}  // namespace softnpu::npu
