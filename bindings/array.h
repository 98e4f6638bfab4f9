// SPDX-License-Identifier: Apache-2.0
// Arrays from Python, described as the core's tensors, and new arrays of the same kind.
#pragma once

#include <memory>

#include "base/status.h"
#include "python_code.h"
#include "tensor/tensor.h"

namespace softnpu::python {

enum class Access : uint8_t { read, write };

// A tensor argument: an operator's view of an array, and the objects that must live as long. The
// caller keeps the array itself alive.
struct Array {
  Tensor tensor;
  Held keeper;                        // a DLPack capsule, or the resolved form of a lazy tensor
  std::unique_ptr<std::byte[]> copy;  // of an unaligned input
  std::unique_ptr<Tensor> source;     // the original of an input that is read as a copy
};

// A result that is being computed. Some libraries can only take over finished arrays.
struct NewArray {
  nb::object object;
  Held take_over;     // the library's from_dlpack; null if `object` is already the result
  bool fresh = true;  // whether the memory is new, as far as is known

  nb::object finish() const {
    if (!take_over.is_valid()) return object;
    return invoke(take_over, object);
  }
};

// Fills in `out`. The message of a failure begins with `name`. Errors raised by a foreign array's
// own code become failures, too.
Status read_array(const char* name, PyObject* object, Access access, Array& out);

// Whether the object's memory may be replaced during the call. All other arrays are exports, which
// keep the memory that they describe.
bool may_be_resized(PyObject* object);

// A new array of the kind of `like`, with the sizes and the data type of `tensor`. Sets the data
// and the strides of `tensor`. A PyTorch tensor has the memory format of `like`, as `described`;
// other arrays are contiguous.
Status make_array(const char* name, PyObject* like, const Tensor& described, Tensor& tensor,
                  NewArray& out);

// Converts the pending Python error to a failure with its first line. Throws errors that must not
// be converted, such as interrupts and a lack of memory.
Status failure_from_python(const char* name, const char* what);

// Copies the elements at `origin` to a private contiguous buffer of `out`, whose sizes and data
// type are already set.
void copy_to_aligned(const std::byte* origin, const Dims& byte_strides, Array& out);

}  // namespace softnpu::python
