// SPDX-License-Identifier: Apache-2.0
// A formula's loops over dense rows whose results are summed (loops/free_sum.h).
#pragma once

#include "loops/free_sum.h"
#include "loops/row_loops.h"
#include "loops/wide.h"

SOFTNPU_LEVEL_BEGIN

using WideBits = uint64_t __attribute__((vector_size(sizeof(Wide))));
using loops::FreeSum;

// Adding this number rounds a term to a multiple of limb k's unit, from -2^51 to 2^51, which is
// then in the last bits of the sum.
inline double holder_of(int k) {
  constexpr uint64_t kBias = 1023, kOneAndAHalf = uint64_t{1} << 51;
  const int exponent = FreeSum::kLimbBits * (k + 1) + FreeSum::kLowest;
  return std::bit_cast<double>((static_cast<uint64_t>(exponent) + kBias) << 52 | kOneAndAHalf);
}

// The lowest limb that can hold a term: the term is below half a unit of the next one.
inline int limb_of(double term) {
  constexpr int kBias = 1023, kHalf = FreeSum::kLowest + FreeSum::kLimbBits - 1;
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(term) >> 52) - kBias;
  return exponent < kHalf ? 1 : (exponent - kHalf) / FreeSum::kLimbBits + 1;
}

// Adds vectors of terms, split into a limb and the one below.
class SplitTerms {
 public:
  explicit SplitTerms(int top) : top_(top), upper_(holder_of(top)), lower_(holder_of(top - 1)) {}

  SOFTNPU_INLINE void add(Wide term) {
    const Wide held = term + upper_, rest = term - (held - upper_);
    uppers_ += (WideBits)held;
    lowers_ += (WideBits)(rest + lower_);
    highest_ = term > highest_ ? term : highest_;
    plain_ += term;
  }

  // Adds `vectors` vectors to the sum. Returns false if a higher limb is needed, and sets the sum's
  // to it.
  bool add_to(FreeSum& sum, int64_t vectors) const {
    double highest = 0, plain = 0;
    for (int i = 0; i < kWideLanes; ++i) {
      highest = highest_[i] > highest ? highest_[i] : highest;
      plain += plain_[i];
    }
    if (!(plain < __builtin_inf())) {
      sum.special += plain;
      return true;
    }
    if (const int needed = limb_of(highest); needed > top_) {
      sum.top = needed;
      return false;
    }
    sum.limbs[top_] += multiples(uppers_, vectors, upper_);
    sum.limbs[top_ - 1] += multiples(lowers_, vectors, lower_);
    return true;
  }

 private:
  static int64_t multiples(WideBits held, int64_t vectors, double holder) {
    uint64_t sum = 0;  // overflow cancels in the subtraction below
    for (int i = 0; i < kWideLanes; ++i) sum += held[i];
    const auto holders = static_cast<uint64_t>(vectors * kWideLanes);
    return static_cast<int64_t>(sum - holders * std::bit_cast<uint64_t>(holder));
  }

  int top_;
  double upper_, lower_;
  WideBits uppers_{}, lowers_{};
  Wide highest_{}, plain_{};
};

// A formula of two inputs and the sum of its results.
template <class Formula>
struct Summed {
  Formula formula;
  FreeSum* sum;
};

// A limb's sum of this many terms fits 64 bits.
constexpr int64_t kSummedAtOnce = kTileElements;

template <class Formula, class T>
SOFTNPU_INLINE bool sum_some(const Formula formula, const RowInput<T> a, const RowInput<T> b,
                             int64_t begin, int64_t end, FreeSum& sum) {
  SplitTerms terms(sum.top);
  int64_t i = begin;
  for (; i + kWideLanes <= end; i += kWideLanes)
    terms.add(formula.wide(load_wide<Wide>(a.from(i)), load_wide<Wide>(b.from(i))));
  if (i < end) {
    Wide last{};  // padded with zeros
    for (int64_t k = 0; i + k < end; ++k)
      last[k] = formula.wide(load_wide<double>(a.from(i + k)), load_wide<double>(b.from(i + k)));
    terms.add(last);
  }
  return terms.add_to(sum, (end - begin + kWideLanes - 1) / kWideLanes);
}

template <class Formula, class T>
void sum_row(const void* summed, const Row& row) {
  const auto& [formula, sum] = *static_cast<const Summed<Formula>*>(summed);
  for (int64_t begin = 0, end; begin < row.n; begin = end) {
    end = least(row.n, begin + kSummedAtOnce);
    while (!sum_some(formula, RowInput<T>(row, 0), RowInput<T>(row, 1), begin, end, *sum)) {
    }
  }
}

template <class Formula>
constexpr RowLoops kSumLoops{.inputs = 2,
                             .f32 = {sum_row<Formula, float>, sum_row<Formula, float>},
                             .f16 = {sum_row<Formula, f16>, sum_row<Formula, f16>},
                             .bf16 = {sum_row<Formula, bf16>, sum_row<Formula, bf16>},
                             .i8 = {},
                             .i32 = {},
                             .stores = false};

// Adds the formula's results of tiles [begin, end) to the SharedSum in the output's place.
template <class Formula>
void sum_tiles(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
               int64_t begin, int64_t end) {
  FreeSum sum;
  const Summed<Formula> summed{formula, &sum};
  walk_rows(l, origins, kSumLoops<Formula>, &summed, begin, end);
  reinterpret_cast<loops::SharedSum*>(origins[l.operands - 1])->add(sum);
}

SOFTNPU_LEVEL_END
