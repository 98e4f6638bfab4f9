// SPDX-License-Identifier: Apache-2.0
// Calls that fail on purpose, so that programs can test their error handling. SOFTNPU_FAIL selects
// them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/export.h"
#include "base/status.h"

namespace softnpu {

enum class FaultKind : uint8_t {
  malloc,       // of device memory
  malloc_host,  // of page-locked host memory
  memcpy,
  memset,
  plan,    // phase one of an operator
  launch,  // phase two
  sync,    // of a stream, an event or a device
  stream,  // creation, as for the next two
  event,
  context,
  create,  // of descriptors, scalars, arrays and lists
};

// Fails if SOFTNPU_FAIL has an invalid value. aclInit reports this.
SOFTNPU_EXPORT Status faults_status();

// Fails if `text` would be an invalid value of SOFTNPU_FAIL.
SOFTNPU_EXPORT Status check_faults(std::string_view text);

// False once it is known that SOFTNPU_FAIL requests no failures.
SOFTNPU_EXPORT extern constinit std::atomic<bool> faults_are_possible;
SOFTNPU_EXPORT Status draw_failure(FaultKind kind);

// Counts the call. If it returns a failure, the call must do nothing else.
inline Status injected_failure(FaultKind kind) {
  if (!faults_are_possible.load(std::memory_order_relaxed)) [[likely]]
    return {};
  return draw_failure(kind);
}

}  // namespace softnpu
