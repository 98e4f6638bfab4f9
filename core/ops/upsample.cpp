// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample.h"

#include <cmath>

namespace softnpu::ops {

__extension__ using Wide = __int128;  // products of five sizes of up to 2^20

Status check_types_and_formats(const Operand& other, const Operand& first, RuleId rule) {
  const Tensor &one = *first.arg, &two = *other.arg;
  const bool same_order = (one.format == Format::ndhwc) == (two.format == Format::ndhwc);
  if (one.dtype == two.dtype && same_order) return {};
  return fail(rule, kParamInvalid, other.name, " has data type ", two.dtype, " and format ",
              two.format, ", but ", first.name, " has ", one.dtype, " and ", one.format,
              "; they must agree");
}

Status check_upsample_sizes(const char* name, const IntArray& sizes, size_t length, RuleId rule) {
  if (sizes.size() != length)
    return fail(rule, kParamInvalid, name, " has ", sizes.size(), " elements; expected ", length);
  for (int64_t size : sizes)
    if (size <= 0)
      return fail(rule, kParamInvalid, name, " is ", Dims(sizes),
                  "; every element must be above 0");
  return {};
}

Status check_upsample_limits(const char* out_name, const Dims& out, const char* in_name,
                             const Dims& in, RuleId rule) {
  for (const auto& [name, sizes] : {std::pair{out_name, &out}, {in_name, &in}})
    for (int64_t size : *sizes)
      if (!(size <= int64_t{1} << 20))
        return fail(rule, kParamInvalid, name, " has a dimension of ", size,
                    "; at most 1048576 (2^20) is supported");
  const Wide batch = Wide(out[0]) * out[1];
  if (!(batch * out[2] * out[3] < Wide(1) << 31))
    return fail(rule, kParamInvalid, out_name, " has N, C, D, H ",
                Dims{out[0], out[1], out[2], out[3]}, "; their product must be below 2^31");
  if (!(Wide(in[3]) * in[4] < Wide(1) << 31))
    return fail(rule, kParamInvalid, in_name, " has H, W ", Dims{in[3], in[4]},
                "; their product must be below 2^31");
  const Wide elements = Wide(out[2]) * out[3] * out[4] + Wide(in[2]) * in[3] * in[4] +
                        Wide(out[2]) * out[3] * in[4] + Wide(out[2]) * in[3] * in[4];
  if (!(batch * elements * 4 < Wide(60) << 30))
    return fail(rule, kParamInvalid, out_name, " of N, C, D, H, W ", out, " and ", in_name, " of ",
                in, " need 60 GiB or more of device memory");
  return {};
}

Status check_scales(const Scales& scales, const Dims& in, const Dims& output_size, RuleId rule) {
  if (!scales.are_given()) return {};
  constexpr const char* names[] = {"scalesD", "scalesH", "scalesW"};
  for (size_t i = 0; i < 3; ++i) {
    const double scaled = std::floor(static_cast<double>(in[2 + i]) * scales.values[i]);
    if (scaled != static_cast<double>(output_size[i]))
      return fail(rule, kParamInvalid, names[i], " is ", scales.values[i],
                  ", which takes a size of ", in[2 + i], " to ", scaled, ", but outputSize is ",
                  output_size[i]);
  }
  return {};
}

namespace {

using kernels::UpsampleAxes;
using kernels::UpsampleAxis;
using kernels::UpsampleOuter;

bool follows(const UpsampleOuter& outer, const UpsampleOuter& inner) {
  return outer.in_stride == inner.size * inner.in_stride &&
         outer.out_stride == inner.size * inner.out_stride;
}

// Makes channels that are innermost in `out` the side axis. Otherwise merges them with the batch if
// possible.
void arrange_outer_axes(UpsampleAxes& a) {
  const bool w_is_dense = a.w.out > 1 && a.w.out_stride == 1;
  if (a.channels.size > 1 && a.channels.out_stride == 1 && !w_is_dense) {
    a.side = a.channels;
    a.channels = {};
  } else if (a.batch.size == 1 || a.channels.size == 1 || follows(a.batch, a.channels)) {
    const int64_t size = a.batch.size * a.channels.size;
    if (a.channels.size == 1) a.channels = a.batch;
    a.channels.size = size;
    a.batch = {};
  }
}

// If W is not upsampled, it joins the side axis; H becomes W, D becomes H.
void join_identity_axes(UpsampleAxes& a) {
  for (int axes = 0; axes < 3 && a.w.is_identity(); ++axes) {
    const UpsampleOuter w{a.w.in, a.w.in_stride, a.w.out_stride};
    if (w.size > 1) {
      if (a.side.size == 1)
        a.side = w;
      else if (follows(w, a.side))
        a.side.size *= w.size;
      else
        return;
    }
    a.w = a.h;
    a.h = a.d;
    a.d = {};
  }
}

}  // namespace

UpsampleAxes upsample_axes(const Tensor& out, const Tensor& in, const Scales& scales) {
  const AxisOrder at = axis_order(out);
  // An axis with one element may have any stride.
  const auto stride = [](const Tensor& tensor, size_t i) {
    return tensor.sizes[i] == 1 ? 0 : tensor.strides[i];
  };
  const auto axis = [&, given = scales.are_given()](size_t i, double scale) {
    const auto ratio = static_cast<float>(out.sizes[i]) / static_cast<float>(in.sizes[i]);
    return UpsampleAxis{in.sizes[i], out.sizes[i], stride(in, i), stride(out, i),
                        given ? static_cast<float>(scale) : ratio};
  };
  const auto outer = [&](size_t i) {
    return UpsampleOuter{out.sizes[i], stride(in, i), stride(out, i)};
  };
  UpsampleAxes a{.batch = outer(at.n),
                 .channels = outer(at.c),
                 .d = axis(at.d, scales.values[0]),
                 .h = axis(at.h, scales.values[1]),
                 .w = axis(at.w, scales.values[2]),
                 .side = {}};
  arrange_outer_axes(a);
  join_identity_axes(a);
  return a;
}

}  // namespace softnpu::ops
