// SPDX-License-Identifier: Apache-2.0
// Running sums in float64, side by side: rows are added up into a row of sums, then neighbours in
// that row are. Each sum adds the same numbers in the same order whatever is beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "loops/count.h"
#include "loops/level.h"
#include "loops/prefetch.h"
#include "loops/quads.h"
#include "loops/storage.h"

SOFTNPU_LEVEL_BEGIN

SOFTNPU_INLINE double select(bool condition, double a, double b) { return condition ? a : b; }
SOFTNPU_INLINE double fused_add(double a, double b) { return a + b; }
SOFTNPU_INLINE double fused_subtract(double a, double b) { return a - b; }
// As V: double, Quad or Octet.
template <class V, class T>
SOFTNPU_INLINE V load_as(const T* in) {
  if constexpr (std::is_same_v<V, double>) return static_cast<double>(widen(*in));
#ifdef SOFTNPU_QUADS
  if constexpr (std::is_same_v<V, Quad>) return load_quad(in);
#endif
#ifdef SOFTNPU_OCTETS
  if constexpr (std::is_same_v<V, Octet>) return load_octet(in);
#endif
}
// in[0], in[step], …
template <class V>
SOFTNPU_INLINE V load_apart(const double* in, [[maybe_unused]] int64_t step) {
#ifdef SOFTNPU_QUADS
  if constexpr (!std::is_same_v<V, double>)
    return make_quad(in[0], in[step], in[2 * step], in[3 * step]);
#endif
  if constexpr (std::is_same_v<V, double>) return *in;
}
// in[places[0]], in[places[1]], …
template <class V>
SOFTNPU_INLINE V load_places(const double* in, const int32_t* places) {
#ifdef SOFTNPU_QUADS
  if constexpr (!std::is_same_v<V, double>)
    return make_quad(in[places[0]], in[places[1]], in[places[2]], in[places[3]]);
#endif
  if constexpr (std::is_same_v<V, double>) return in[*places];
}
template <class Stage>
SOFTNPU_INLINE void store_as(double v, Stage* out) {
  *out = static_cast<Stage>(v);
}
#ifdef SOFTNPU_QUADS
template <class Stage>
SOFTNPU_INLINE void store_as(Quad v, Stage* out) {
  store_quad(v, out);
}
#endif

#ifdef SOFTNPU_OCTETS
template <class Stage>
SOFTNPU_INLINE void store_as(Octet v, Stage* out) {
  store_octet(v, out);
}
#endif

// For DOUBLE the rounding errors are summed beside a sum (Knuth's two-sum); the other types leave
// float64 bits enough.
template <class T>
constexpr bool kIsCompensated = sizeof(T) == sizeof(double);

// A running sum, or four.
template <bool kCompensated, class V = double>
struct Sum {
  V value, lost;

  SOFTNPU_INLINE void add(V term) {
    if constexpr (kCompensated)
      lost = fused_add(add_with_error(term), lost);
    else
      value = fused_add(term, value);
  }
  SOFTNPU_INLINE void add(const Sum& other) {
    if constexpr (kCompensated)
      lost = fused_add(add_with_error(other.value) + other.lost, lost);
    else
      add(other.value);
  }
  SOFTNPU_INLINE V total() const {
    // Nothing lost: the sum as it is, which keeps -0. Infinities make the errors NaN; the plain sum
    // is right then, too.
    if constexpr (kCompensated)
      return one_nan(select((lost == 0) | (lost - lost != 0), value, value + lost));
    return one_nan(value);
  }

 private:
  SOFTNPU_INLINE V add_with_error(V term) {
    const V sum = value + term, back = sum - value;
    const V error = (value - (sum - back)) + fused_subtract(term, back);
    value = sum;
    return error;
  }
};

// A row of running sums.
template <bool kCompensated>
struct Sums {
  double *value, *lost;

  template <class V = double>
  SOFTNPU_INLINE Sum<kCompensated, V> at(int64_t i) const {
    Sum<kCompensated, V> sum{load_as<V>(value + i), V{}};
    if constexpr (kCompensated) sum.lost = load_as<V>(lost + i);
    return sum;
  }
  // Those at i, i + step, …
  template <class V>
  SOFTNPU_INLINE Sum<kCompensated, V> apart(int64_t i, int64_t step) const {
    Sum<kCompensated, V> sum{load_apart<V>(value + i, step), V{}};
    if constexpr (kCompensated) sum.lost = load_apart<V>(lost + i, step);
    return sum;
  }
  // Those at places[0], places[1], …
  template <class V>
  SOFTNPU_INLINE Sum<kCompensated, V> at_places(const int32_t* places) const {
    Sum<kCompensated, V> sum{load_places<V>(value, places), V{}};
    if constexpr (kCompensated) sum.lost = load_places<V>(lost, places);
    return sum;
  }
  template <class V>
  SOFTNPU_INLINE void add_to(Sum<kCompensated, V>& sum, int64_t i) const {
    sum.add(at<V>(i));
  }
  template <class V>
  SOFTNPU_INLINE void put(int64_t i, const Sum<kCompensated, V>& sum) const {
    store_as(sum.value, value + i);
    if constexpr (kCompensated) store_as(sum.lost, lost + i);
  }
  SOFTNPU_INLINE void set(int64_t i, double sum) const {
    value[i] = sum;
    if constexpr (kCompensated) lost[i] = 0;
  }
  Sums from(int64_t i) const { return {value + i, lost + i}; }
};

// Calls at(i, V{}) for positions that cover [0, n), V being what it works on at once: four, or
// eight. Where it may meet positions twice (`kAgain`), the last four overlap those before.
template <bool kAgain, bool kEights = false, class At>
SOFTNPU_INLINE void for_quads(int64_t n, const At& at) {
  int64_t i = 0;
#ifdef SOFTNPU_OCTETS
  if constexpr (kEights)
    for (; i + kOctet <= n; i += kOctet) at(i, Octet{});
#endif
#ifdef SOFTNPU_QUADS
  for (; i + kQuad <= n; i += kQuad) at(i, Quad{});
  if (kAgain && i < n && n >= kQuad) return at(n - kQuad, Quad{});
#endif
  SOFTNPU_INDEPENDENT
  for (int64_t j = i; j < n; ++j) at(j, double{});
}

// A pointer read by itself. Compilers like to read four at once, which has to wait until the stores
// that wrote them one by one have left the core: 40 ns for each row.
template <class T>
SOFTNPU_INLINE const T* read_alone(const T* const& pointer) {
  const T* value = pointer;
  asm("" : "+r"(value));
  return value;
}

// sums[i] = (nothing or sums[i]) + in[0][i] + in[1][i] + …, in this order. Several rows at a time
// keep the sums in registers: 1.6 times as fast as one by one. What lies `ahead` is prefetched.
template <int kRows, bool kFirst, bool kCompensated, class T>
void add_rows(const T* const* in, int64_t n, Ahead ahead, Sums<kCompensated> sums) {
  const T* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = read_alone(in[r]);
  const auto add_at = [&]<class V>(int64_t i, V) {
    Sum<kCompensated, V> sum;
    if constexpr (kFirst)
      sum = Sum<kCompensated, V>{load_as<V>(rows[0] + i), V{}};
    else
      sum = sums.template at<V>(i);
    for (int r = kFirst ? 1 : 0; r < kRows; ++r) sum.add(load_as<V>(rows[r] + i));
    sums.put(i, sum);
  };
  // FLOAT from memory takes up to 1.2 times as long eight at a time.
  constexpr bool kEights = sizeof(T) != sizeof(float);
  if (!ahead.any()) return for_quads<kFirst, kEights>(n, add_at);
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t first = 0; first < n; first += kLine) {
    const int64_t count = least(n - first, kLine);
    for (int r = 0; r < kRows; ++r) prefetch(rows[r] + first, ahead);
    for_quads<kFirst, kEights>(count, [&]<class V>(int64_t i, V v) { add_at(first + i, v); });
  }
}

// open[i] = (nothing or open[i]) + sums[i] + sums[i + n] + …, `length` of them, for n of these.
template <bool kFirst, bool kCompensated>
void add_positions(Sums<kCompensated> sums, int64_t length, int64_t n, Sums<kCompensated> open) {
  for_quads<false>(n, [&]<class V>(int64_t i, V) {
    Sum<kCompensated, V> sum = (kFirst ? sums : open).template at<V>(i);
    for (int64_t x = kFirst ? 1 : 0; x < length; ++x) sums.add_to(sum, i + x * n);
    open.put(i, sum);
  });
}

// The totals of n empty groups.
template <class T>
void fill_zero(int64_t n, T* out) {
  if (n > 0) std::memset(out, 0, static_cast<size_t>(n) * sizeof(T));
}

// out[i] = the total of sums [i · kLength, (i + 1) · kLength).
template <int kLength, bool kCompensated, class Stage>
void total_groups(Sums<kCompensated> sums, int64_t n, Stage* out) {
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    Sum<kCompensated> sum = sums.at(i * kLength);
    for (int x = 1; x < kLength; ++x) sums.add_to(sum, i * kLength + x);
    out[i] = static_cast<Stage>(sum.total());
  }
}

// The same for longer groups, four at a time.
template <bool kCompensated, class Stage>
void total_long_groups(Sums<kCompensated> sums, int64_t length, int64_t n, Stage* out) {
  for_quads<true>(n, [&]<class V>(int64_t i, V) {
    const auto at = [&](int64_t x)
                        SOFTNPU_INLINED { return sums.template apart<V>(i * length + x, length); };
    Sum<kCompensated, V> sum = at(0);
    for (int64_t x = 1; x < length; ++x) sum.add(at(x));
    store_as(sum.total(), out + i);
  });
}

// out[i] = the total of sums i, i + step, …, `length` of them. A group of rows with channels
// inside.
template <bool kCompensated, class Stage>
SOFTNPU_INLINE void total_rows(Sums<kCompensated> sums, int64_t length, int64_t step, int64_t n,
                               Stage* out) {
  for_quads<true>(n, [&]<class V>(int64_t i, V) {
    Sum<kCompensated, V> sum = sums.template at<V>(i);
    for (int64_t x = 1; x < length; ++x) sums.add_to(sum, i + x * step);
    store_as(sum.total(), out + i);
  });
}

SOFTNPU_LEVEL_END
