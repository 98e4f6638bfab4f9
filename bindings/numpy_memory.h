// SPDX-License-Identifier: Apache-2.0
// NumPy arrays in memory of the pool.
#pragma once

#include <nanobind/nanobind.h>

#include "numpy_abi.h"

namespace softnpu::python {

// While this is alive, NumPy gives new arrays of this thread memory of the pool. Such an array owns
// its data like any other: views keep it alive, it can be resized, and what frees it gives the
// memory back.
class PooledMemory {
 public:
  explicit PooledMemory(numpy_abi::SetHandler set_handler);
  ~PooledMemory();
  PooledMemory(const PooledMemory&) = delete;
  PooledMemory& operator=(const PooledMemory&) = delete;

 private:
  numpy_abi::SetHandler set_handler_;
  nanobind::object before_;
};

}  // namespace softnpu::python
