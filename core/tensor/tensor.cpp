// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include "base/half.h"

namespace softnpu {

Dims contiguous_strides(const Dims& sizes) {
  Dims strides(sizes.size());
  uint64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

bool is_contiguous(const Tensor& tensor) {
  const int64_t *const sizes = tensor.sizes.data(), *const strides = tensor.strides.data();
  uint64_t step = 1;
  bool dense = true;
  for (size_t i = tensor.rank(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    dense &= sizes[i] == 1 || strides[i] == static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(sizes[i]);
  }
  return dense;
}

Status view_extent(const Tensor& tensor, Extent& out) {
  out = {};
  if (tensor.numel() == 0) return {};
  Extent extent{tensor.offset, tensor.offset};
  for (size_t i = 0; i < tensor.rank(); ++i) {
    const auto reach = checked_mul(tensor.sizes[i] - 1, tensor.strides[i]);
    int64_t& end = tensor.strides[i] < 0 ? extent.low : extent.high;
    const auto moved = reach ? checked_add(end, *reach) : std::nullopt;
    if (!moved)
      return fail("view-past-64-bits"_rule, kParamInvalid, "shape ", tensor.sizes, " with strides ",
                  tensor.strides, " reaches past what 64 bits can address");
    end = *moved;
  }
  out = extent;
  return {};
}

namespace {

// Calls f with the number, in the C++ type that corresponds to its data type.
template <class F>
auto with_number(const Scalar& scalar, const F& f) {
  switch (scalar.dtype) {
    case DType::f32:
      return f(value_of<float>(scalar));
    case DType::f64:
      return f(value_of<double>(scalar));
    case DType::f16:
      return f(half_to_float(value_of<uint16_t>(scalar)));
    case DType::bf16:
      return f(bfloat_to_float(value_of<uint16_t>(scalar)));
    case DType::i8:
      return f(value_of<int8_t>(scalar));
    case DType::u8:
      return f(value_of<uint8_t>(scalar));
    case DType::i16:
      return f(value_of<int16_t>(scalar));
    case DType::u16:
      return f(value_of<uint16_t>(scalar));
    case DType::i32:
      return f(value_of<int32_t>(scalar));
    case DType::u32:
      return f(value_of<uint32_t>(scalar));
    case DType::i64:
      return f(value_of<int64_t>(scalar));
    case DType::u64:
      return f(value_of<uint64_t>(scalar));
    default:
      return f(value_of<uint8_t>(scalar) != 0);  // BOOL
  }
}

}  // namespace

float to_float(const Scalar& scalar) {
  return with_number(scalar, [](auto number) { return static_cast<float>(number); });
}

std::string to_text(const Scalar& scalar) {
  return with_number(scalar, [](auto number) { return text(number); });
}

std::optional<Dims> broadcast_sizes(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = out[longer.size() - 1 - i];
    const int64_t other = shorter[shorter.size() - 1 - i];
    if (size == 1)
      size = other;
    else if (other != 1 && other != size)
      return std::nullopt;
  }
  return out;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::f64 || b == DType::f64) return DType::f64;
  return DType::f32;  // FLOAT with a smaller one, or FLOAT16 with BF16
}

bool can_cast(DType from, DType to) {
  const bool to_number = is_integer(to) || is_floating(to) || is_complex(to);
  if (from == DType::boolean) return to_number || to == DType::boolean;
  if (is_integer(from)) return to_number;
  if (is_floating(from)) return is_floating(to) || is_complex(to);
  return is_complex(from) && is_complex(to);
}

}  // namespace softnpu
