// SPDX-License-Identifier: Apache-2.0
// The elements of a launch's tensors.
#pragma once

#include "described/operator.h"
#include "described/rows.h"

namespace softnpu::described {

// A tensor, and where its first element lies for this launch.
struct View {
  const Tensor* tensor;
  std::byte* first;
};

// T is double or int64_t.
template <class T>
std::vector<T> read(const View& view, const Dims& sizes);
template <class T>
void write(const View& view, const T* values);

class SOFTNPU_EXPORT Arrays {
 public:
  Arrays(const Given& given, std::byte* const* origins) : given_(given), origins_(origins) {}

  std::byte* const* origins() const { return origins_; }
  View view(std::string_view name) const { return member(name, 0); }
  // One of a list's tensors, absent ones not counted.
  View member(std::string_view name, size_t i) const;

  // All elements in row-major order; of a tensor that is absent, none.
  template <class T = double>
  std::vector<T> read(std::string_view name) const {
    if (!given_.has(name)) return {};
    return described::read<T>(view(name), given_.tensor(name).sizes);
  }
  // Broadcast to `sizes`.
  template <class T = double>
  std::vector<T> read(std::string_view name, const Dims& sizes) const {
    return described::read<T>(view(name), sizes);
  }
  // Nothing happens where the tensor is absent.
  template <class T>
  void write(std::string_view name, const std::vector<T>& values) const {
    if (given_.has(name)) described::write(view(name), values.data());
  }
  // Writes an output whose size only the kernel knows: the elements lie at its beginning, which
  // must be contiguous, and the output gets that size.
  template <class T>
  void write_resized(std::string_view name, const std::vector<T>& values, const Dims& sizes) const;

 private:
  const Given& given_;
  std::byte* const* origins_;
};

}  // namespace softnpu::described
