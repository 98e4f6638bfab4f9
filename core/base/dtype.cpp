// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <utility>

namespace softnpu {
namespace {

constexpr std::pair<DType, const char*> kTypes[] = {
    {DType::undefined, "UNDEFINED"},
    {DType::f32, "FLOAT"},
    {DType::f16, "FLOAT16"},
    {DType::i8, "INT8"},
    {DType::i32, "INT32"},
    {DType::u8, "UINT8"},
    {DType::i16, "INT16"},
    {DType::u16, "UINT16"},
    {DType::u32, "UINT32"},
    {DType::i64, "INT64"},
    {DType::u64, "UINT64"},
    {DType::f64, "DOUBLE"},
    {DType::boolean, "BOOL"},
    {DType::string, "STRING"},
    {DType::c64, "COMPLEX64"},
    {DType::c128, "COMPLEX128"},
    {DType::bf16, "BF16"},
    {DType::i4, "INT4"},
    {DType::u1, "UINT1"},
    {DType::c32, "COMPLEX32"},
    {DType::hif8, "HIFLOAT8"},
    {DType::f8_e5m2, "FLOAT8_E5M2"},
    {DType::f8_e4m3fn, "FLOAT8_E4M3FN"},
    {DType::f8_e8m0, "FLOAT8_E8M0"},
    {DType::f6_e3m2, "FLOAT6_E3M2"},
    {DType::f6_e2m3, "FLOAT6_E2M3"},
    {DType::f4_e2m1, "FLOAT4_E2M1"},
    {DType::f4_e1m2, "FLOAT4_E1M2"},
};

constexpr std::pair<Format, const char*> kFormats[] = {
    {Format::undefined, "UNDEFINED"},
    {Format::nchw, "NCHW"},
    {Format::nhwc, "NHWC"},
    {Format::nd, "ND"},
    {Format::nc1hwc0, "NC1HWC0"},
    {Format::fractal_z, "FRACTAL_Z"},
    {Format::nc1hwc0_c04, "NC1HWC0_C04"},
    {Format::hwcn, "HWCN"},
    {Format::ndhwc, "NDHWC"},
    {Format::fractal_nz, "FRACTAL_NZ"},
    {Format::ncdhw, "NCDHW"},
    {Format::ndc1hwc0, "NDC1HWC0"},
    {Format::fractal_z_3d, "FRACTAL_Z_3D"},
    {Format::nc, "NC"},
    {Format::ncl, "NCL"},
};

template <class Key, size_t N>
std::string name_or_number(const std::pair<Key, const char*> (&table)[N], Key key) {
  for (const auto& [value, name] : table)
    if (value == key) return name;
  return text("number ", static_cast<int32_t>(key));
}

}  // namespace

std::string to_text(DType type) { return name_or_number(kTypes, type); }
std::string to_text(Format format) { return name_or_number(kFormats, format); }

}  // namespace softnpu
