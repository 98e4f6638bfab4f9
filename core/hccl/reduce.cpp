// SPDX-License-Identifier: Apache-2.0
#include "hccl/reduce.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/half.h"

namespace softnpu::hccl {
namespace {

struct Half {
  uint16_t bits;
  operator double() const { return half_to_float(bits); }
  static Half of(double value) { return {float_to_half(to_odd(value))}; }

  // The nearest float32, but never one that was rounded to where the 16-bit types round: a value
  // that float32 does not have gets an odd last bit.
  static float to_odd(double value) {
    const auto near = static_cast<float>(value);
    if (std::isnan(value) || static_cast<double>(near) == value) return near;
    const float down =
        std::fabs(static_cast<double>(near)) > std::fabs(value) ? std::nextafter(near, 0.0F) : near;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(down) | 1U);
  }
};

struct Bfloat {
  uint16_t bits;
  operator double() const { return bfloat_to_float(bits); }
  static Bfloat of(double value) { return {float_to_bfloat(Half::to_odd(value))}; }
};

template <class T>
using Wide = std::conditional_t<std::is_unsigned_v<T>, uint64_t,
                                std::conditional_t<std::is_integral_v<T>, int64_t, double>>;

template <class T, class W>
T narrow(W value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(value);
  else
    return T::of(value);
}

template <class W>
W combine(W a, W b, HcclReduceOp op) {
  using Modular = std::conditional_t<std::is_integral_v<W>, uint64_t, W>;
  switch (op) {
    case HCCL_REDUCE_PROD:
      return static_cast<W>(static_cast<Modular>(a) * static_cast<Modular>(b));
    case HCCL_REDUCE_MAX:
      return b > a || b != b ? b : a;
    case HCCL_REDUCE_MIN:
      return b < a || b != b ? b : a;
    default:
      return static_cast<W>(static_cast<Modular>(a) + static_cast<Modular>(b));
  }
}

template <class T>
void reduce_as(const std::vector<const std::byte*>& ranks, size_t count, HcclReduceOp op,
               std::byte* out) {
  for (size_t i = 0; i < count; ++i) {
    const auto element = [&](const std::byte* from) {
      T value;
      std::memcpy(&value, from + i * sizeof(T), sizeof(T));
      return static_cast<Wide<T>>(value);
    };
    Wide<T> total = element(ranks.front());
    for (size_t rank = 1; rank < ranks.size(); ++rank)
      total = combine(total, element(ranks[rank]), op);
    const T value = narrow<T>(total);
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

size_t item_size(int32_t type) {
  constexpr size_t kSizes[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};
  return type >= 0 && type < HCCL_DATA_TYPE_RESERVED ? kSizes[type] : 0;
}

void reduce(const std::vector<const std::byte*>& ranks, size_t count, HcclDataType type,
            HcclReduceOp op, std::byte* out) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return reduce_as<int8_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_INT16:
      return reduce_as<int16_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_INT32:
      return reduce_as<int32_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_FP16:
      return reduce_as<Half>(ranks, count, op, out);
    case HCCL_DATA_TYPE_FP32:
      return reduce_as<float>(ranks, count, op, out);
    case HCCL_DATA_TYPE_INT64:
      return reduce_as<int64_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_UINT64:
      return reduce_as<uint64_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_UINT8:
      return reduce_as<uint8_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_UINT16:
      return reduce_as<uint16_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_UINT32:
      return reduce_as<uint32_t>(ranks, count, op, out);
    case HCCL_DATA_TYPE_FP64:
      return reduce_as<double>(ranks, count, op, out);
    case HCCL_DATA_TYPE_BFP16:
      return reduce_as<Bfloat>(ranks, count, op, out);
    case HCCL_DATA_TYPE_RESERVED:
      break;
  }
}

}  // namespace softnpu::hccl
