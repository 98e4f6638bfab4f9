// SPDX-License-Identifier: Apache-2.0
// Which Ascend product the process emulates. SOFTNPU_SOC chooses it, once per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

enum class Soc : uint8_t { ascend950, ascend910_93, ascend910b, ascend310b, ascend310p, ascend910 };

struct Product {
  Soc soc;
  std::string_view name;  // as in SOFTNPU_SOC; null-terminated
  bool bf16;              // whether its operators take BF16
  size_t memory_gib;      // of a common board; other boards may have more
};

// The selected product; the default if SOFTNPU_SOC is unset or invalid.
SOFTNPU_EXPORT const Product& product();

// Fails if SOFTNPU_SOC is not the name of a product. aclInit reports this.
SOFTNPU_EXPORT Status product_status();

}  // namespace softnpu::runtime
