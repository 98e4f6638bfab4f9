// SPDX-License-Identifier: Apache-2.0
// Arrays that Python passes in, seen as the core's tensors, and new ones of the same kind.
#pragma once

#include <memory>

#include "base/status.h"
#include "python_code.h"
#include "tensor/tensor.h"

namespace softnpu::python {

enum class Access : uint8_t { read, write };

// A tensor argument: what the operator sees of an array, and what must live as long as it does.
// The array itself is kept alive by whoever passed it.
struct Array {
  Tensor tensor;
  Held keeper;                        // a DLPack capsule, or the resolved form of a lazy tensor
  std::unique_ptr<std::byte[]> copy;  // of an input that was not aligned
  std::unique_ptr<Tensor> source;     // what was there of an input that is read as a copy
};

// A result that is being computed. Libraries that only take arrays over get theirs at the end.
struct NewArray {
  nb::object object;
  Held take_over;     // the library's from_dlpack; null where `object` is the result already
  bool fresh = true;  // no result was in this memory before, as far as is known

  nb::object finish() const {
    if (!take_over.is_valid()) return object;
    return invoke(take_over, object);
  }
};

// Fills in `out`. A failure's message starts with `name`; errors that a foreign array's own code
// raises become failures too.
Status read_array(const char* name, PyObject* object, Access access, Array& out);

// Whether the object can get other memory while it is in use. What else is read is an export, which
// keeps the memory that it describes.
bool may_be_resized(PyObject* object);

// An array of the kind of `like`, with the sizes and the data type of `tensor`, whose data and
// strides it sets. PyTorch tensors have the memory format of `like`, as `described`; other arrays
// are contiguous.
Status make_array(const char* name, PyObject* like, const Tensor& described, Tensor& tensor,
                  NewArray& out);

// The pending Python error as a failure, cut to its first line. Throws what is no ordinary error:
// running out of memory, an interrupt.
Status failure_from_python(const char* name, const char* what);

// Gives `out` a private contiguous copy of the elements at `origin`, which its sizes and data type
// describe already.
void copy_to_aligned(const std::byte* origin, const Dims& byte_strides, Array& out);

}  // namespace softnpu::python
