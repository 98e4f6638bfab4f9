// SPDX-License-Identifier: Apache-2.0
// The operators on arrays. softnpu.functional adds keywords and documentation. Any argument may be
// None; the contract decides what that means.
#include "sections.h"

#include "autograd.h"
#include "call.h"
#include "dlpack_arrays.h"
#include "ops/operators.h"

namespace softnpu::python {
namespace {

void describe_like(const Tensor& like, Tensor& out) {
  out.sizes = like.sizes;
  out.dtype = like.dtype;
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
      // Tensors inside a transform look like others, but have no memory; torch.fx passes proxies.
      if ((has_attribute(arguments, "__torch_function__"_name) || ...))
        if (nb::object result = take_over(name, given)) return result;
      throw;
    }
  };
  m.def(name, call, any.template operator()<A>()..., nb::sig(signature));
  // For softnpu.torch, when PyTorch has already called it.
  nb::module_(m.attr("kernels")).def(name, function, any.template operator()<A>()...);
  const auto check = [function](A... arguments) {
    const OneDevice scope;
    function(arguments...);
  };
  nb::module_(m.attr("checks")).def(name, check, any.template operator()<A>()...);
}

#include "operators.inc"

}  // namespace

void bind_operators(nb::module_& m) {
  m.def_submodule("kernels", "The operators as functions that PyTorch's kernels call.");
  m.def_submodule("checks", "Their contracts alone, for arrays in the memory of one device.");
  define_operators(m);
}

}  // namespace softnpu::python
