// SPDX-License-Identifier: Apache-2.0
#include "loops/free_sum.h"

#include <algorithm>
#include <cmath>

namespace softnpu::loops {

void FreeSum::add(const FreeSum& other) {
  for (int k = 0; k < kLimbs; ++k) limbs[k] += other.limbs[k];
  top = std::max(top, other.top);
  special += other.special;
}

double FreeSum::value() const {
  if (special != 0) return special;
  const auto part = [&](int k) {
    return std::ldexp(static_cast<double>(limbs[k]), kLimbBits * k + kLowest);
  };
  return part(top) + part(top - 1);
}

void SharedSum::add(const FreeSum& part) {
  std::lock_guard lock(mutex_);
  total_.add(part);
}

}  // namespace softnpu::loops
