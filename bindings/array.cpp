// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "foreign_arrays.h"
#include "memory/buffer_pool.h"
#include "memory/pages.h"
#include "numpy_arrays.h"
#include "raise.h"
#include "torch_tensors.h"

namespace softnpu::python {

Status read_array(const char* name, PyObject* object, Access access, Array& out) {
  // The usual types first, because these checks run no code of the object.
  if (is_numpy_array(object)) return read_numpy_array(name, object, access, out);
  if (is_tensor(object)) return read_tensor(name, object, access, out);
  if (is_numpy_scalar(object)) return read_numpy_scalar(name, object, access, out);
  if (is_foreign_array(object)) return read_foreign_array(name, object, access, out);
  return fail("argument-class"_rule, kParamInvalid, name, " is of class ", class_name(object),
              "; expected a NumPy array, a PyTorch tensor or another array that has __dlpack__");
}

bool may_be_resized(PyObject* object) { return is_numpy_array(object) || is_tensor(object); }

namespace {

// Strides of a dense tensor with the same order of dimensions in memory as `like`, as PyTorch's own
// results have. Contiguous if the rank differs or elements repeat.
Dims strides_like(const Tensor& like, const Dims& sizes) {
  Dims strides = contiguous_strides(sizes);
  if (like.rank() != sizes.size()) return strides;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (like.sizes[i] > 1 && like.strides[i] <= 0) return strides;
  if (std::ranges::is_sorted(like.strides, std::greater<>())) return strides;
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return like.strides[a] > like.strides[b]; });
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(sizes[order[i]], 1);
  }
  return strides;
}

}  // namespace

Status make_array(const char* name, PyObject* like, const Tensor& described, Tensor& tensor,
                  NewArray& out) {
  const auto elements = checked_numel(tensor.sizes);
  const auto bytes = elements ? checked_mul(*elements, item_size(tensor.dtype)) : std::nullopt;
  if (!bytes)
    return fail("too-many-elements"_rule, kParamInvalid, name, " would have shape ", tensor.sizes,
                ", which is more than 64 bits can address");
  const bool torch = is_tensor(like);
  tensor.strides = torch ? strides_like(described, tensor.sizes) : contiguous_strides(tensor.sizes);
  const bool pooled = memory::is_pooled(static_cast<size_t>(*bytes));
  if (torch) out.object = make_tensor(tensor);
  if (out.object.is_valid()) {
    if (pooled) memory::prefer_huge_pages(tensor.data, static_cast<size_t>(*bytes));
  } else if (is_numpy_array(like)) {
    out.object = make_numpy_array(tensor, pooled);
  } else if (is_foreign_array(like)) {
    RETURN_IF_FAILED(make_foreign_array(name, like, tensor, out));
  } else {
    out.object = make_numpy_array(tensor, pooled);
  }
  if (pooled) {
    const auto use = memory::find_buffer(tensor.data);
    out.fresh = !use || use->fresh;
  }
  return {};
}

Status failure_from_python(const char* name, const char* what) {
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
    nb::raise_python_error();
  const Held error = take_error();
  std::string message = readable(error);
  message = message.substr(0, message.find('\n'));
  return fail("python-failure"_rule, kParamInvalid, name, what, class_name(error), ": ", message);
}

namespace {

Dims with(const Dims& dims, int64_t last) {
  Dims longer(dims.size() + 1);
  std::ranges::copy(dims, longer.begin());
  longer[dims.size()] = last;
  return longer;
}

}  // namespace

void copy_to_aligned(const std::byte* origin, const Dims& byte_strides, Array& out) {
  Tensor& t = out.tensor;
  const auto item = static_cast<size_t>(item_size(t.dtype));
  const auto elements = static_cast<size_t>(t.numel());
  const auto bytes = checked_mul(t.numel(), static_cast<int64_t>(item));
  if (bytes) out.copy.reset(new (std::nothrow) std::byte[static_cast<size_t>(*bytes)]);
  if (!out.copy) {
    const std::string message =
        text("no memory for a copy of an input that is not aligned to its data type ", t.dtype,
             ", of shape ", t.sizes);
    raise(PyExc_MemoryError, "out-of-host-memory"_rule, message);
  }
  Dims at(t.rank());
  const std::byte* const start = origin;
  for (size_t i = 0; i < elements; ++i) {
    std::memcpy(out.copy.get() + i * item, origin, item);
    for (size_t axis = t.rank(); axis-- > 0;) {
      origin += byte_strides[axis];
      if (++at[axis] < t.sizes[axis]) break;
      origin -= byte_strides[axis] * t.sizes[axis];
      at[axis] = 0;
    }
  }
  // As bytes, because the elements may be unaligned.
  out.source = std::make_unique<Tensor>();
  out.source->data = const_cast<std::byte*>(start);
  out.source->dtype = DType::u8;
  out.source->sizes = with(t.sizes, static_cast<int64_t>(item));
  out.source->strides = with(byte_strides, 1);
  t.data = out.copy.get();
  t.strides = contiguous_strides(t.sizes);
}

}  // namespace softnpu::python
