// SPDX-License-Identifier: Apache-2.0
// Rows of the upsample gradient whose ranges of w have up to four elements, where no other way in
// registers is: sums are picked from two registers. The sums have the order of sums.h.
#pragma once

#include "loops/boxes.h"
#include "loops/convert.h"
#include "loops/short_groups.h"

#ifdef SOFTNPU_OCTETS
SOFTNPU_LEVEL_BEGIN

static_assert(loops::PickedGroups::kGroups == kOctet && loops::PickedGroups::kSums == 2 * kOctet);

// The elements of both registers at `places`; `absent` where there are none.
SOFTNPU_INLINE Octet pick(Octet low, Octet high, __m512i places, uint8_t present, double absent) {
  return (Octet)_mm512_mask_mov_pd(_mm512_set1_pd(absent), present,
                                   _mm512_permutex2var_pd((__m512d)low, places, (__m512d)high));
}
template <bool kCompensated>
SOFTNPU_INLINE Sum<kCompensated, Octet> pick(const Sum<kCompensated, Octet>& low,
                                             const Sum<kCompensated, Octet>& high, __m512i places,
                                             uint8_t present, double absent) {
  Sum<kCompensated, Octet> picked{pick(low.value, high.value, places, present, absent), Octet{}};
  if constexpr (kCompensated) picked.lost = pick(low.lost, high.lost, places, present, 0.0);
  return picked;
}

// The totals of some groups.
template <int kY, int kZ, class T>
SOFTNPU_INLINE Octet total_some_groups(const Boxes<kY, kZ, T>& boxes,
                                       const loops::PickedGroups& groups) {
  const int64_t x = groups.base, count = groups.sums;
  const auto low = boxes.sum_some(x, least(count, kOctet));
  Sum<kIsCompensated<T>, Octet> high{};
  if (count > kOctet) high = boxes.sum_some(x + kOctet, count - kOctet);
  const __m512i step = _mm512_set1_epi64(groups.step);
  __m512i places = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i*)groups.first));
  auto total = pick(low, high, places, groups.present[0], 0.0);
  for (int k = 1; k < loops::PickedGroups::kLongest && groups.present[k] != 0; ++k) {
    places = _mm512_add_epi64(places, step);
    total.add(pick(low, high, places, groups.present[k], -0.0));
  }
  return total.total();
}

// One row of n totals.
template <int kY, int kZ, class T, class Later>
SOFTNPU_INLINE void total_short_groups(const Boxes<kY, kZ, T> boxes,
                                       const loops::PickedGroups* groups, int64_t n,
                                       const Later& later, T* out) {
  for (int64_t i = 0; i < n; i += groups->groups, ++groups) {
    later.some(groups->base, loops::PickedGroups::kSums);
    store_some_octet(total_some_groups(boxes, *groups), out + i, groups->groups);
  }
}

// The sums of columns x … x + n in float64.
template <int kY, int kZ, class T>
void sum_in_double(const Boxes<kY, kZ, T>& boxes, int64_t x, int64_t n, double* sums) {
  if (n >= kQuad) return sum_boxes(boxes.from(x), n, {sums, nullptr});
  for (int64_t i = 0; i < n; ++i) sums[i] = boxes.template sum_as<double>(x + i).value;
}

// The totals of some groups of 16-bit elements, which are few, in float64.
template <class Columns, class T>
__attribute__((noinline)) void total_sixteen_groups(const Columns& columns,
                                                    const loops::SixteenGroups& groups, T* out) {
  double sums[loops::SixteenGroups::kSums];
  sum_in_double(columns, groups.base, groups.sums, sums);
  for (int i = 0; i < groups.groups; ++i) {
    double total = 0;
    for (int k = 0; k < loops::SixteenGroups::kLongest && groups.present[k] >> i & 1; ++k) {
      const double sum = sums[groups.first[i] + k * groups.step];
      total = k == 0 ? sum : total + sum;
    }
    narrow(static_cast<float>(one_nan(total)), out[i]);
  }
}

// One row of n totals of 16-bit elements: those of `columns`, which are boxes or an ExactRow.
template <class Columns, class T, class Later>
SOFTNPU_INLINE void total_short_groups(const Columns columns, const loops::SixteenGroups* groups,
                                       int64_t n, const Later& later, T* out) {
  for (int64_t i = 0; i < n; i += groups->groups, ++groups) {
    later.some(groups->base, loops::SixteenGroups::kSums);
    const int64_t sums = groups->sums;
    const ExactSum low = columns.exact_sum(groups->base, least(sums, kLanes));
    const ExactSum high =
        sums > kLanes ? columns.exact_sum(groups->base + kLanes, sums - kLanes) : low;
    const ExactSum sum = low.picked(high, *groups);
    if (!sum.template rounds_to_same<T>()) [[unlikely]]
      total_sixteen_groups(columns, *groups, out + i);
    else if (groups->groups == kLanes) [[likely]]
      store_lanes(sum.value, out + i);
    else
      store_some(sum.value, out + i, groups->groups);
  }
}

SOFTNPU_LEVEL_END
#endif
