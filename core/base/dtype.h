// SPDX-License-Identifier: Apache-2.0
// Data types and formats, with the numbers that the C API documents.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/export.h"

namespace softnpu {

enum class DType : int32_t {
  undefined = -1,
  f32 = 0,
  f16 = 1,
  i8 = 2,
  i32 = 3,
  u8 = 4,
  i16 = 6,
  u16 = 7,
  u32 = 8,
  i64 = 9,
  u64 = 10,
  f64 = 11,
  boolean = 12,
  string = 13,
  c64 = 16,
  c128 = 17,
  bf16 = 27,
  i4 = 29,
  u1 = 30,
  c32 = 33,
  // Types that tensors can have, but that no operator reads.
  hif8 = 34,
  f8_e5m2 = 35,
  f8_e4m3fn = 36,
  f8_e8m0 = 37,
  f6_e3m2 = 38,
  f6_e2m3 = 39,
  f4_e2m1 = 40,
  f4_e1m2 = 41,
};

enum class Format : int32_t {
  undefined = -1,
  nchw = 0,
  nhwc = 1,
  nd = 2,
  nc1hwc0 = 3,
  fractal_z = 4,
  nc1hwc0_c04 = 12,
  hwcn = 16,
  ndhwc = 27,
  fractal_nz = 29,
  ncdhw = 30,
  ndc1hwc0 = 32,
  fractal_z_3d = 33,
  nc = 35,
  ncl = 47,
};

// The documented name without its prefix ("FLOAT16", "NCDHW"), or the number of an unknown value.
SOFTNPU_EXPORT std::string to_text(DType type);
SOFTNPU_EXPORT std::string to_text(Format format);

// Bytes of one element; 0 for unknown types and for types smaller than a byte.
constexpr int64_t item_size(DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8:
    case DType::boolean:
    case DType::hif8:
    case DType::f8_e5m2:
    case DType::f8_e4m3fn:
    case DType::f8_e8m0:
      return 1;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:
      return 2;
    case DType::f32:
    case DType::i32:
    case DType::u32:
    case DType::c32:
      return 4;
    case DType::i64:
    case DType::u64:
    case DType::f64:
    case DType::c64:
      return 8;
    case DType::c128:
      return 16;
    default:
      return 0;
  }
}

constexpr bool is_small_float(DType t) { return t >= DType::hif8 && t <= DType::f4_e1m2; }
constexpr bool is_floating(DType t) {
  return t == DType::f16 || t == DType::bf16 || t == DType::f32 || t == DType::f64;
}
constexpr bool is_complex(DType t) { return t == DType::c64 || t == DType::c128; }
constexpr bool is_integer(DType t) {
  return t == DType::i8 || t == DType::u8 || t == DType::i16 || t == DType::u16 ||
         t == DType::i32 || t == DType::u32 || t == DType::i64 || t == DType::u64;
}

// Formats whose layout a strided view describes. The others have storage layouts of their own.
constexpr bool is_public(Format f) {
  switch (f) {
    case Format::nd:
    case Format::nchw:
    case Format::nhwc:
    case Format::hwcn:
    case Format::ncdhw:
    case Format::ndhwc:
    case Format::ncl:
    case Format::nc:
      return true;
    default:
      return false;
  }
}

constexpr bool is_one_of(DType type, std::initializer_list<DType> list) {
  for (DType t : list)
    if (t == type) return true;
  return false;
}

}  // namespace softnpu
