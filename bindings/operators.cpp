// SPDX-License-Identifier: Apache-2.0
// The five operators on arrays. They are plain C functions of Python rather than nanobind's, whose
// dispatch would be a third of the time of a call on a few elements; softnpu/functional.py gives
// them their names, keywords and documentation.
#include "sections.h"

#include "call.h"
#include "ops/elu_backward.h"
#include "ops/max_unpool3d_backward.h"
#include "ops/selu_backward.h"
#include "ops/smooth_l1_loss_backward.h"
#include "ops/upsample_nearest3d_backward.h"

namespace softnpu::python {
namespace {

void describe_like(const Tensor& like, Tensor& out) {
  out.sizes = like.sizes;
  out.dtype = like.dtype;
}

nb::object elu_backward(PyObject* const* given) {
  Arguments in;
  const ops::EluBackward::Args args{.grad_output = in.input("gradOutput", given[0]),
                                    .alpha = in.scalar("alpha", given[1]),
                                    .scale = in.scalar("scale", given[2]),
                                    .input_scale = in.scalar("inputScale", given[3]),
                                    .is_result = in.flag("isResult", given[4]),
                                    .self_or_result = in.input("selfOrResult", given[5]),
                                    .grad_input = in.output("gradInput", given[6])};
  return call<ops::EluBackward>(in, args,
                                [&](Tensor& out) { describe_like(*args.grad_output, out); });
}

nb::object selu_backward(PyObject* const* given) {
  Arguments in;
  const ops::SeluBackward::Args args{.grad_output = in.input("gradOutput", given[0]),
                                     .result = in.input("result", given[1]),
                                     .grad_input = in.output("gradInput", given[2])};
  return call<ops::SeluBackward>(in, args,
                                 [&](Tensor& out) { describe_like(*args.grad_output, out); });
}

nb::object smooth_l1_loss_backward(PyObject* const* given) {
  Arguments in;
  const ops::SmoothL1LossBackward::Args args{
      .grad_out = in.input("gradOut", given[0]),
      .self = in.input("self", given[1]),
      .target = in.input("target", given[2]),
      .reduction = in.reduction("reduction", given[3]),
      .beta = static_cast<float>(in.number("beta", given[4])),
      .grad_input = in.output("gradInput", given[5])};
  return call<ops::SmoothL1LossBackward>(in, args, [&](Tensor& out) {
    const Tensor &grad_out = *args.grad_out, &self = *args.self, &target = *args.target;
    // Where the inputs do not go together, a check says so before it looks at the output.
    out.dtype = promote(promote(grad_out.dtype, self.dtype), target.dtype);
    const auto pair = broadcast_sizes(self.sizes, target.sizes);
    const auto all = pair ? broadcast_sizes(*pair, grad_out.sizes) : std::nullopt;
    out.sizes = all ? *all : self.sizes;
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

nb::object upsample_nearest3d_backward(PyObject* const* given) {
  Arguments in;
  const ops::UpsampleNearest3dBackward::Args args{
      .grad_out = in.input("gradOut", given[0]),
      .output_size = in.int_array("outputSize", given[1]),
      .input_size = in.int_array("inputSize", given[2]),
      .scales_d = in.number("scalesD", given[3]),
      .scales_h = in.number("scalesH", given[4]),
      .scales_w = in.number("scalesW", given[5]),
      .grad_input = in.output("gradInput", given[7])};
  in.format("format", given[6]);
  return call<ops::UpsampleNearest3dBackward>(in, args, [&](Tensor& out) {
    out.dtype = args.grad_out->dtype;
    out.sizes = upsample_shape(*args.input_size, *args.grad_out);
  });
}

nb::object max_unpool3d_backward(PyObject* const* given) {
  Arguments in;
  const ops::MaxUnpool3dBackward::Args args{.grad_output = in.input("gradOutput", given[0]),
                                            .self = in.input("self", given[1]),
                                            .indices = in.input("indices", given[2]),
                                            .output_size = in.int_array("outputSize", given[3]),
                                            .stride = in.int_array("stride", given[4]),
                                            .padding = in.int_array("padding", given[5]),
                                            .out = in.output("out", given[6])};
  return call<ops::MaxUnpool3dBackward>(in, args, [&](Tensor& out) {
    out.sizes = args.self->sizes;
    out.dtype = args.grad_output->dtype;
    out.strides = contiguous_strides(out.sizes);  // the first thing that is checked
  });
}

template <nb::object (*kFunction)(PyObject* const*), Py_ssize_t kCount>
PyObject* entry(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count == kCount) [[likely]]
    return guarded([&] { return kFunction(given); });
  return PyErr_Format(PyExc_TypeError, "expected %zd positional arguments, but got %zd", kCount,
                      count);
}

template <nb::object (*kFunction)(PyObject* const*), Py_ssize_t kCount>
constexpr PyMethodDef method(const char* name, const char* signature) {
  auto* function =
      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&entry<kFunction, kCount>));
  return {name, function, METH_FASTCALL, signature};
}

}  // namespace

void bind_operators(nb::module_& m) {
  static PyMethodDef methods[] = {
      method<elu_backward, 7>("elu_backward",
                              "elu_backward($module, grad_output, alpha, scale, input_scale, "
                              "is_result, self_or_result, out, /)\n--\n\n"),
      method<selu_backward, 3>("selu_backward",
                               "selu_backward($module, grad_output, result, out, /)\n--\n\n"),
      method<smooth_l1_loss_backward, 6>(
          "smooth_l1_loss_backward",
          "smooth_l1_loss_backward($module, grad_out, self, target, reduction, beta, out, /)"
          "\n--\n\n"),
      method<upsample_nearest3d_backward, 8>(
          "upsample_nearest3d_backward",
          "upsample_nearest3d_backward($module, grad_out, output_size, input_size, scales_d, "
          "scales_h, scales_w, format, out, /)\n--\n\n"),
      method<max_unpool3d_backward, 7>(
          "max_unpool3d_backward",
          "max_unpool3d_backward($module, grad_output, self, indices, output_size, stride, "
          "padding, out, /)\n--\n\n"),
      {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(m.ptr(), methods) != 0) nb::raise_python_error();
}

}  // namespace softnpu::python
