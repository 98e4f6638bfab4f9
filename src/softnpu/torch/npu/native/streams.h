// SPDX-License-Identifier: Apache-2.0
// Streams and events: PyTorch numbers streams, softnpu's runtime has them.
#pragma once

#include <c10/core/Stream.h>

#include "devices.h"

namespace softnpu::npu {

// The calling thread's current stream of a device.
c10::Stream current_stream(DeviceIndex index);
aclrtStream handle_of(const c10::Stream& stream);

// Waits for a stream, as the program does.
void synchronize(const c10::Stream& stream);

// Waits for all work of a device, whatever becomes of it.
void wait_for_device(DeviceIndex index);
void wait_for_all_devices();
// For the end of the process: destroys all streams.
void end_streams();

}  // namespace softnpu::npu
