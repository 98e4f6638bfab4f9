// SPDX-License-Identifier: Apache-2.0
// Begin and end of the process's use of the device.
#pragma once

#include <cstdint>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

// `config_path` may be null or empty.
SOFTNPU_EXPORT Status initialize(const char* config_path);
// Whether the process has ever called aclInit.
SOFTNPU_EXPORT bool was_initialized();
// A failure changes nothing.
SOFTNPU_EXPORT Status finalize();

struct Version {
  int32_t major;
  int32_t minor;
  int32_t patch;
};
SOFTNPU_EXPORT Version version();

}  // namespace softnpu::runtime
