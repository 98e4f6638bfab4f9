// SPDX-License-Identifier: Apache-2.0
// A sum of nonnegative numbers that does not depend on their order, because it adds integers.
//
// A term is split into limbs of 52 bits, at the same positions for all terms: limb k counts
// multiples of unit(k) = 2^(52 k - 208), rounded to nearest. Limbs are added as integers. The
// result uses the two limbs from the largest term's on. So each term is rounded to 2^-51 of the
// largest term or less, and the error of n terms is at most n · 2^-52 of it.
#pragma once

#include <mutex>

#include "base/export.h"

namespace softnpu::loops {

struct FreeSum {
  __extension__ using Wide = __int128;

  static constexpr int kLimbBits = 52, kLowest = -208;
  static constexpr int kLimbs = 7;  // terms are below 2^155

  Wide limbs[kLimbs] = {};
  int top = 1;         // the highest limb of any term; the result uses this limb and the one below
  double special = 0;  // the sum of infinities and NaNs

  SOFTNPU_EXPORT void add(const FreeSum& other);
  SOFTNPU_EXPORT double value() const;
};

// The total, to which each thread adds its sum.
class SharedSum {
 public:
  SOFTNPU_EXPORT void add(const FreeSum& part);
  double value() const { return total_.value(); }

 private:
  std::mutex mutex_;
  FreeSum total_;
};

}  // namespace softnpu::loops
