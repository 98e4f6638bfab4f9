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
  std::string_view name;  // as SOFTNPU_SOC names it; ends with a null character
  bool bf16;              // whether its operators take BF16
  size_t memory_gib;      // of a common board; others of the same product may have more
};

// The selected product; the default one where SOFTNPU_SOC is unset or names none.
SOFTNPU_EXPORT const Product& product();

// A failure when SOFTNPU_SOC names no product. aclInit reports it.
SOFTNPU_EXPORT Status product_status();

}  // namespace softnpu::runtime
