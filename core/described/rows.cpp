// SPDX-License-Identifier: Apache-2.0
#include "described/rows.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/half.h"

namespace softnpu::described {
namespace {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};

// Rounded to odd: rounding it again to fewer bits rounds `value` once.
float to_odd(double value) {
  const auto near = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(near);
  if (static_cast<double>(near) == value || value != value || (bits & 1u) != 0) return near;
  const bool too_far = std::fabs(static_cast<double>(near)) > std::fabs(value);
  return std::bit_cast<float>(too_far ? bits - 1 : bits | 1u);
}

// An int64 as a float64 that later rounding rounds once.
double widest(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (-kExact <= value && value <= kExact) return static_cast<double>(value);
  constexpr int64_t kDropped = (int64_t{1} << 11) - 1;
  return static_cast<double>((value & ~kDropped) | (value & kDropped ? kDropped + 1 : 0));
}

double widest(double value) { return value; }

template <class To>
To saturate(double value) {
  using Limits = std::numeric_limits<To>;
  if (value != value) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<To>(value);
}

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<From, Half>)
    return convert<To>(static_cast<double>(half_to_float(v.bits)));
  else if constexpr (std::is_same_v<From, Bfloat>)
    return convert<To>(static_cast<double>(bfloat_to_float(v.bits)));
  else if constexpr (std::is_same_v<From, Bool>)
    return static_cast<To>(v.byte != 0);
  else if constexpr (std::is_same_v<To, Bool>)
    return {static_cast<uint8_t>(v != 0)};
  else if constexpr (std::is_same_v<To, Half>)
    return {float_to_half(to_odd(widest(v)))};
  else if constexpr (std::is_same_v<To, Bfloat>)
    return {float_to_bfloat(to_odd(widest(v)))};
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
    return saturate<To>(static_cast<double>(v));
  else
    return static_cast<To>(v);
}

template <class From, class To>
void convert_row(const From* in, int64_t in_stride, int64_t n, int64_t out_stride, To* out) {
  if (in_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * out_stride] = convert<To>(in[i * in_stride]);
  }
}

// Calls f with a value of the type in which a data type is stored.
template <class F>
auto visit(DType type, F&& f) {
  switch (type) {
    case DType::f16:
      return f(Half());
    case DType::bf16:
      return f(Bfloat());
    case DType::f64:
      return f(double());
    case DType::i8:
      return f(int8_t());
    case DType::i16:
      return f(int16_t());
    case DType::i32:
      return f(int32_t());
    case DType::i64:
      return f(int64_t());
    case DType::u8:
      return f(uint8_t());
    case DType::u16:
      return f(uint16_t());
    case DType::u32:
      return f(uint32_t());
    case DType::boolean:
      return f(Bool());
    default:
      return f(float());
  }
}

}  // namespace

template <class T>
LoadRow<T> loader(DType type) {
  return visit(type, []<class From>(From) -> LoadRow<T> {
    return [](const std::byte* first, int64_t stride, int64_t n, T* out) {
      convert_row(reinterpret_cast<const From*>(first), stride, n, 1, out);
    };
  });
}

template <class T>
StoreRow<T> storer(DType type) {
  return visit(type, []<class To>(To) -> StoreRow<T> {
    return [](const T* in, int64_t n, int64_t stride, std::byte* first) {
      convert_row(in, 1, n, stride, reinterpret_cast<To*>(first));
    };
  });
}

template SOFTNPU_EXPORT LoadRow<double> loader<double>(DType);
template SOFTNPU_EXPORT LoadRow<int64_t> loader<int64_t>(DType);
template SOFTNPU_EXPORT StoreRow<double> storer<double>(DType);
template SOFTNPU_EXPORT StoreRow<int64_t> storer<int64_t>(DType);

namespace {

// The stride of a tensor along dimension d of `sizes`, to which it is broadcast.
int64_t broadcast_stride(const Tensor& tensor, const Dims& sizes, size_t d) {
  const size_t missing = sizes.size() - tensor.rank();
  if (d < missing || tensor.sizes[d - missing] == 1) return 0;
  return tensor.strides[d - missing];
}

}  // namespace

Walk::Walk(const Dims& sizes, std::vector<const Tensor*> views) : row_strides_(views.size()) {
  for (int64_t size : sizes)
    if (size == 0) row_ = 0;
  if (row_ == 0) return;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    std::vector<int64_t> strides;
    for (const Tensor* view : views) strides.push_back(broadcast_stride(*view, sizes, d));
    bool merges = !outer_.empty();
    for (size_t v = 0; merges && v < views.size(); ++v)
      merges = strides_.back()[v] == strides[v] * sizes[d];
    if (merges) {
      outer_.back() *= sizes[d];
      strides_.back() = std::move(strides);
    } else {
      outer_.push_back(sizes[d]);
      strides_.push_back(std::move(strides));
    }
  }
  if (outer_.empty()) return;
  row_ = outer_.back();
  row_strides_ = std::move(strides_.back());
  outer_.pop_back();
  strides_.pop_back();
}

}  // namespace softnpu::described
