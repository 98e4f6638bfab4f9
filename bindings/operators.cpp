// SPDX-License-Identifier: Apache-2.0
// The operators on arrays; softnpu/functional/ gives them keywords and documentation. Every
// argument may be None; what that means is for the contract to say.
#include "sections.h"

#include <algorithm>

#include "autograd.h"
#include "call.h"
#include "dlpack_arrays.h"
#include "ops/elu.h"
#include "ops/elu_backward.h"
#include "ops/inplace_elu.h"
#include "ops/inplace_selu.h"
#include "ops/max_unpool3d.h"
#include "ops/max_unpool3d_backward.h"
#include "ops/selu.h"
#include "ops/selu_backward.h"
#include "ops/smooth_l1_loss.h"
#include "ops/smooth_l1_loss_backward.h"
#include "ops/upsample_nearest3d.h"
#include "ops/upsample_nearest3d_backward.h"

namespace softnpu::python {
namespace {

void describe_like(const Tensor& like, Tensor& out) {
  out.sizes = like.sizes;
  out.dtype = like.dtype;
}

nb::object elu(nb::handle self, nb::handle alpha, nb::handle scale, nb::handle input_scale,
               nb::handle out) {
  Arguments in;
  const ops::Elu::Args args{.self = in.input("self", self),
                            .alpha = in.scalar("alpha", alpha),
                            .scale = in.scalar("scale", scale),
                            .input_scale = in.scalar("inputScale", input_scale),
                            .out = in.output("out", out)};
  return call<ops::Elu>(in, args, [&](Tensor& out) { describe_like(*args.self, out); });
}

nb::object inplace_elu(nb::handle self, nb::handle alpha, nb::handle scale,
                       nb::handle input_scale) {
  Arguments in;
  const ops::InplaceElu::Args args{.self_ref = in.in_out("selfRef", self),
                                   .alpha = in.scalar("alpha", alpha),
                                   .scale = in.scalar("scale", scale),
                                   .input_scale = in.scalar("inputScale", input_scale)};
  return call<ops::InplaceElu>(in, args, [](Tensor&) {});
}

nb::object selu(nb::handle self, nb::handle out) {
  Arguments in;
  const ops::Selu::Args args{.self = in.input("self", self), .out = in.output("out", out)};
  return call<ops::Selu>(in, args, [&](Tensor& out) { describe_like(*args.self, out); });
}

nb::object inplace_selu(nb::handle self) {
  Arguments in;
  const ops::InplaceSelu::Args args{.self_ref = in.in_out("selfRef", self)};
  return call<ops::InplaceSelu>(in, args, [](Tensor&) {});
}

nb::object elu_backward(nb::handle grad_output, nb::handle alpha, nb::handle scale,
                        nb::handle input_scale, nb::handle is_result, nb::handle self_or_result,
                        nb::handle out) {
  Arguments in;
  const ops::EluBackward::Args args{.grad_output = in.input("gradOutput", grad_output),
                                    .alpha = in.scalar("alpha", alpha),
                                    .scale = in.scalar("scale", scale),
                                    .input_scale = in.scalar("inputScale", input_scale),
                                    .is_result = in.flag("isResult", is_result),
                                    .self_or_result = in.input("selfOrResult", self_or_result),
                                    .grad_input = in.output("gradInput", out)};
  return call<ops::EluBackward>(in, args,
                                [&](Tensor& out) { describe_like(*args.grad_output, out); });
}

nb::object selu_backward(nb::handle grad_output, nb::handle result, nb::handle out) {
  Arguments in;
  const ops::SeluBackward::Args args{.grad_output = in.input("gradOutput", grad_output),
                                     .result = in.input("result", result),
                                     .grad_input = in.output("gradInput", out)};
  return call<ops::SeluBackward>(in, args,
                                 [&](Tensor& out) { describe_like(*args.grad_output, out); });
}

nb::object smooth_l1_loss(nb::handle self, nb::handle target, nb::handle reduction, nb::handle beta,
                          nb::handle out) {
  Arguments in;
  const ops::SmoothL1Loss::Args args{.self = in.input("self", self),
                                     .target = in.input("target", target),
                                     .reduction = in.reduction("reduction", reduction),
                                     .beta = in.number("beta", beta),
                                     .result = in.output("result", out)};
  return call<ops::SmoothL1Loss>(in, args, [&](Tensor& out) {
    out.dtype = promote(args.self->dtype, args.target->dtype);
    if (args.reduction != 0) return;  // one number, of rank 0
    // Where the inputs do not go together, a check says so before it looks at the output.
    const auto all = broadcast_sizes(args.self->sizes, args.target->sizes);
    out.sizes = all ? *all : args.self->sizes;
  });
}

nb::object smooth_l1_loss_backward(nb::handle grad_out, nb::handle self, nb::handle target,
                                   nb::handle reduction, nb::handle beta, nb::handle out) {
  Arguments in;
  const ops::SmoothL1LossBackward::Args args{.grad_out = in.input("gradOut", grad_out),
                                             .self = in.input("self", self),
                                             .target = in.input("target", target),
                                             .reduction = in.reduction("reduction", reduction),
                                             .beta = in.number("beta", beta),
                                             .grad_input = in.output("gradInput", out)};
  return call<ops::SmoothL1LossBackward>(in, args, [&](Tensor& out) {
    const Tensor &grad_out = *args.grad_out, &self = *args.self, &target = *args.target;
    // Where the inputs do not go together, a check says so before it looks at the output.
    out.dtype = promote(promote(grad_out.dtype, self.dtype), target.dtype);
    const auto pair = broadcast_sizes(self.sizes, target.sizes);
    const auto all = pair ? broadcast_sizes(*pair, grad_out.sizes) : std::nullopt;
    out.sizes = all ? *all : self.sizes;
  });
}

nb::object upsample_nearest3d(nb::handle self, nb::handle output_size, nb::handle scales_d,
                              nb::handle scales_h, nb::handle scales_w, nb::handle format,
                              nb::handle out) {
  Arguments in;
  const ops::UpsampleNearest3d::Args args{
      .self = in.input("self", self),
      .output_size = in.int_array("outputSize", output_size),
      .scales = {in.scale("scalesD", scales_d), in.scale("scalesH", scales_h),
                 in.scale("scalesW", scales_w)},
      .out = in.output("out", out)};
  in.format("format", format);
  return call<ops::UpsampleNearest3d>(in, args, [&](Tensor& out) {
    describe_like(*args.self, out);
    const Dims& wanted = *args.output_size;
    if (out.rank() != 5 || wanted.size() != 3) return;  // a check says so
    const ops::AxisOrder at = ops::axis_order(*args.self);
    out.sizes[at.d] = wanted[0];
    out.sizes[at.h] = wanted[1];
    out.sizes[at.w] = wanted[2];
  });
}

// inputSize names the new array's shape in its own order of axes, or as N, C, D, H, W. For NDHWC
// it is the latter where N and C tell so; where they fit both orders, it is the array's own.
Dims upsample_shape(const IntArray& input_size, const Tensor& grad_out) {
  const IntArray& s = input_size;
  if (grad_out.format != Format::ndhwc || s.size() != 5 || grad_out.rank() != 5) return Dims(s);
  const int64_t channels = grad_out.sizes[4];
  if (s[4] == channels || s[1] != channels) return Dims(s);
  return {s[0], s[2], s[3], s[4], s[1]};
}

nb::object upsample_nearest3d_backward(nb::handle grad_out, nb::handle output_size,
                                       nb::handle input_size, nb::handle scales_d,
                                       nb::handle scales_h, nb::handle scales_w, nb::handle format,
                                       nb::handle out) {
  Arguments in;
  const ops::UpsampleNearest3dBackward::Args args{
      .grad_out = in.input("gradOut", grad_out),
      .output_size = in.int_array("outputSize", output_size),
      .input_size = in.int_array("inputSize", input_size),
      .scales = {in.scale("scalesD", scales_d), in.scale("scalesH", scales_h),
                 in.scale("scalesW", scales_w)},
      .grad_input = in.output("gradInput", out)};
  in.format("format", format);
  return call<ops::UpsampleNearest3dBackward>(in, args, [&](Tensor& out) {
    out.dtype = args.grad_out->dtype;
    out.sizes = upsample_shape(*args.input_size, *args.grad_out);
  });
}

nb::object max_unpool3d(nb::handle self, nb::handle indices, nb::handle output_size,
                        nb::handle stride, nb::handle padding, nb::handle out) {
  Arguments in;
  const ops::MaxUnpool3d::Args args{.self = in.input("self", self),
                                    .indices = in.input("indices", indices),
                                    .output_size = in.int_array("outputSize", output_size),
                                    .stride = in.int_array("stride", stride),
                                    .padding = in.int_array("padding", padding),
                                    .out_ref = in.output("outRef", out)};
  in.make_contiguous();
  return call<ops::MaxUnpool3d>(in, args, [&](Tensor& out) {
    describe_like(*args.self, out);
    const Dims& wanted = *args.output_size;
    if (out.rank() < 4 || wanted.size() != 3) return;  // a check says so
    std::copy(wanted.begin(), wanted.end(), out.sizes.end() - 3);
  });
}

nb::object max_unpool3d_backward(nb::handle grad_output, nb::handle self, nb::handle indices,
                                 nb::handle output_size, nb::handle stride, nb::handle padding,
                                 nb::handle out) {
  Arguments in;
  const ops::MaxUnpool3dBackward::Args args{.grad_output = in.input("gradOutput", grad_output),
                                            .self = in.input("self", self),
                                            .indices = in.input("indices", indices),
                                            .output_size = in.int_array("outputSize", output_size),
                                            .stride = in.int_array("stride", stride),
                                            .padding = in.int_array("padding", padding),
                                            .out = in.output("out", out)};
  in.make_contiguous();
  return call<ops::MaxUnpool3dBackward>(in, args, [&](Tensor& out) {
    out.sizes = args.self->sizes;
    out.dtype = args.grad_output->dtype;
    out.strides = contiguous_strides(out.sizes);  // the first thing that is checked
  });
}

// Any argument may be None.
template <class... A>
void define_operator(nb::module_& m, const char* name, nb::object (*function)(A...),
                     const char* signature) {
  const auto any = []<class>() { return nb::arg().none(); };
  const auto call = [name, function](A... arguments) -> nb::object {
    const nb::handle given[] = {arguments...};
    if (concerns_torch(given)) [[unlikely]]
      if (nb::object result = take_over(name, given)) return result;
    try {
      return function(arguments...);
    } catch (nb::python_error&) {
      // Tensors inside a transform look like any other, but have no memory; torch.fx has proxies.
      if ((has_attribute(arguments, "__torch_function__"_name) || ...))
        if (nb::object result = take_over(name, given)) return result;
      throw;
    }
  };
  m.def(name, call, any.template operator()<A>()..., nb::sig(signature));
  // For softnpu.torch, which PyTorch has called by then.
  nb::module_(m.attr("kernels")).def(name, function, any.template operator()<A>()...);
  const auto check = [function](A... arguments) {
    const OneDevice scope;
    function(arguments...);
  };
  nb::module_(m.attr("checks")).def(name, check, any.template operator()<A>()...);
}

}  // namespace

void bind_operators(nb::module_& m) {
  m.def_submodule("kernels", "The operators as functions that PyTorch's kernels call.");
  m.def_submodule("checks", "Their contracts alone, for arrays in the memory of one device.");
  define_operator(m, "elu", &elu,
                  "def elu(self: Any, alpha: Any, scale: Any, input_scale: Any, "
                  "out: Array | None, /) -> Array");
  define_operator(m, "elu_", &inplace_elu,
                  "def elu_(self_ref: Any, alpha: Any, scale: Any, input_scale: Any, /) -> Array");
  define_operator(m, "selu", &selu, "def selu(self: Any, out: Array | None, /) -> Array");
  define_operator(m, "selu_", &inplace_selu, "def selu_(self_ref: Any, /) -> Array");
  define_operator(m, "elu_backward", &elu_backward,
                  "def elu_backward(grad_output: Any, alpha: Any, scale: Any, input_scale: Any, "
                  "is_result: Any, self_or_result: Any, out: Array | None, /) -> Array");
  define_operator(
      m, "selu_backward", &selu_backward,
      "def selu_backward(grad_output: Any, result: Any, out: Array | None, /) -> Array");
  define_operator(m, "smooth_l1_loss", &smooth_l1_loss,
                  "def smooth_l1_loss(self: Any, target: Any, reduction: Any, beta: Any, "
                  "out: Array | None, /) -> Array");
  define_operator(m, "smooth_l1_loss_backward", &smooth_l1_loss_backward,
                  "def smooth_l1_loss_backward(grad_out: Any, self: Any, target: Any, "
                  "reduction: Any, beta: Any, out: Array | None, /) -> Array");
  define_operator(m, "upsample_nearest3d", &upsample_nearest3d,
                  "def upsample_nearest3d(self: Any, output_size: Any, scales_d: Any, "
                  "scales_h: Any, scales_w: Any, format: Any, out: Array | None, /) -> Array");
  define_operator(m, "upsample_nearest3d_backward", &upsample_nearest3d_backward,
                  "def upsample_nearest3d_backward(grad_out: Any, output_size: Any, "
                  "input_size: Any, scales_d: Any, scales_h: Any, scales_w: Any, format: Any, "
                  "out: Array | None, /) -> Array");
  define_operator(m, "max_unpool3d", &max_unpool3d,
                  "def max_unpool3d(self: Any, indices: Any, output_size: Any, stride: Any, "
                  "padding: Any, out: Array | None, /) -> Array");
  define_operator(m, "max_unpool3d_backward", &max_unpool3d_backward,
                  "def max_unpool3d_backward(grad_output: Any, self: Any, indices: Any, "
                  "output_size: Any, stride: Any, padding: Any, out: Array | None, /) -> Array");
}

}  // namespace softnpu::python
