// SPDX-License-Identifier: Apache-2.0
// A sum of numbers that are not negative, which comes out the same in any order: what it adds are
// whole numbers.
//
// A term is split into limbs of 52 bits, at places that are the same for all terms: limb k counts
// multiples of unit(k) = 2^(52 k - 208), rounded to nearest. Limbs are added as integers. In the
// end the two count from the largest term's on. So each term is rounded to 2^-51 of the largest or
// less, and nothing else is lost: the error of n terms is n · 2^-52 at most, and far less unless
// nearly all of them are about that small.
#pragma once

#include <mutex>

#include "base/export.h"

namespace softnpu::loops {

struct FreeSum {
  __extension__ using Wide = __int128;

  static constexpr int kLimbBits = 52, kLowest = -208;
  static constexpr int kLimbs = 7;  // terms are below 2^155

  Wide limbs[kLimbs] = {};
  int top = 1;         // the highest limb that a term has; those below top - 1 do not count
  double special = 0;  // the sum of the infinities and NaN

  SOFTNPU_EXPORT void add(const FreeSum& other);
  SOFTNPU_EXPORT double value() const;
};

// The sum to which threads add theirs.
class SharedSum {
 public:
  SOFTNPU_EXPORT void add(const FreeSum& part);
  double value() const { return total_.value(); }

 private:
  std::mutex mutex_;
  FreeSum total_;
};

}  // namespace softnpu::loops
