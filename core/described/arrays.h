// SPDX-License-Identifier: Apache-2.0
// The elements of a launch's tensors.
#pragma once

#include <atomic>

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

  std::byte* const* origins() const {
    has_written_ = true;
    return origins_;
  }
  View view(std::string_view name) const { return member(name, 0); }
  // One of a list's tensors, absent ones not counted.
  View member(std::string_view name, size_t i) const;
  // Whether a kernel wrote, or got what it needs to write, to an output.
  bool has_written() const { return has_written_; }

  // All elements in row-major order; of a tensor that is absent, none.
  template <class T = double>
  std::vector<T> read(std::string_view name) const {
    const size_t i = given_.tensor_index(name, "read()");
    if (!given_.has(name)) return {};
    return described::read<T>(operand(given_.first_operand(i)), given_.tensor(name).sizes);
  }
  // Broadcast to `sizes`.
  template <class T = double>
  std::vector<T> read(std::string_view name, const Dims& sizes) const {
    return described::read<T>(operand(given_.first_operand(given_.index(name))), sizes);
  }
  // All elements of an output in row-major order. Nothing happens where the tensor is absent.
  template <class T>
  void write(std::string_view name, const std::vector<T>& values) const {
    if (has_room(name, values.size())) described::write(view(name), values.data());
  }
  // Writes an output whose size only the kernel knows: the elements lie at its beginning, which
  // must be contiguous, and the output gets that size.
  template <class T>
  void write_resized(std::string_view name, const std::vector<T>& values, const Dims& sizes) const;

 private:
  View operand(size_t i) const;
  // Whether there is such an output. Fails for an input, or if it has another size.
  bool has_room(std::string_view name, size_t size) const;

  const Given& given_;
  std::byte* const* origins_;
  mutable std::atomic<bool> has_written_ = false;
};

}  // namespace softnpu::described
