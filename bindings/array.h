// SPDX-License-Identifier: Apache-2.0
// Arrays that Python passes in, seen as the core's tensors, and new ones of the same kind.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "base/status.h"
#include "tensor/tensor.h"

namespace softnpu::python {

namespace nb = nanobind;

enum class Access : uint8_t { read, write };

// A tensor argument: what the operator sees of an array, and what must live as long as it does.
// The array itself is kept alive by whoever passed it.
struct Array {
  Tensor tensor;
  nb::object keeper;                  // a DLPack capsule, or the resolved form of a lazy tensor
  std::unique_ptr<std::byte[]> copy;  // of an input that was not aligned
};

// What a new array must look like for it to be of the same kind as `like`, an array that was read
// before. Sets tensor.data; sizes, strides and data type are already set, and the sizes are valid.
nb::object new_array(PyObject* like, Tensor& tensor);

// A failure names the argument. Python errors of a foreign array's own code become failures too.
Status read_array(const char* name, PyObject* object, Access access, Array& out);

// The class of an object, as messages name it: "list", "numpy.float32".
std::string class_name(PyObject* object);

// The pending Python error as a failure, without the lines that some libraries append to a message.
// Throws what is no ordinary error: running out of memory, an interrupt.
Status failure_from_python(const char* name, const char* what);

// Replaces a view whose addresses or byte strides are no multiples of its items' alignment.
void copy_to_aligned(const std::byte* origin, const Dims& byte_strides, Array& out);

}  // namespace softnpu::python
