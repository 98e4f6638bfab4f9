// SPDX-License-Identifier: Apache-2.0
// PyTorch tensors, and arrays of other types that publish DLPack's table of C functions.
#pragma once

#include "array.h"
#include "dlpack_abi.h"

namespace softnpu::python {

struct Exchange {
  PyTypeObject* type;
  const dlpack_abi::ExchangeTable* table;
  bool torch;  // torch.Tensor or a subclass of it
};

// What a type publishes, or null. The pointer is valid until the next call.
const Exchange* find_exchange(PyTypeObject* type);
// The same for types that were found before; null for all others.
const Exchange* find_known_exchange(PyTypeObject* type);

Status read_exchanged_array(const char* name, const Exchange& exchange, PyObject* object,
                            Access access, Array& out);

// Why an array could not be described; a Python error is pending.
[[gnu::cold]] Status cannot_be_read(const char* name, bool torch, PyObject* object);

Status check_device(const char* name, dlpack_abi::Device device);

// Fills in `out` from a description that something else keeps valid.
Status read_description(const char* name, const dlpack_abi::Description& description, Access access,
                        Array& out);
dlpack_abi::DataType to_dlpack(DType type);

}  // namespace softnpu::python
