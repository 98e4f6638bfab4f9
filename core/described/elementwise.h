// SPDX-License-Identifier: Apache-2.0
// Operators whose output is a formula of the elements of their inputs, which are broadcast.
#pragma once

#include <array>
#include <utility>

#include "described/arrays.h"

namespace softnpu::described {

// Applies a formula to n elements of each tensor.
template <class T>
using Formula = void (*)(int64_t n, const T* const* tensors, const T* scalars, T* out);

struct Elementwise {
  Formula<double> real;    // null: floating inputs are refused
  Formula<int64_t> whole;  // for inputs that are all integers; null: `real` serves them, too
};

// `Function` is a lambda without captures: first the tensors in order, then the scalars.
template <class T, class Function, size_t kTensors, size_t kScalars>
void apply(int64_t n, const T* const* tensors, const T* scalars, T* out) {
  const auto loop = [=]<size_t... I, size_t... J>(std::index_sequence<I...>,
                                                  std::index_sequence<J...>) {
    constexpr Function formula{};
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<T>(formula(tensors[I][i]..., scalars[J]...));
  };
  loop(std::make_index_sequence<kTensors>(), std::make_index_sequence<kScalars>());
}

template <size_t kTensors, size_t kScalars, class Function>
constexpr Elementwise real(Function) {
  return {&apply<double, Function, kTensors, kScalars>, nullptr};
}
template <size_t kTensors, size_t kScalars, class Function>
constexpr Elementwise any(Function) {
  return {&apply<double, Function, kTensors, kScalars>,
          &apply<int64_t, Function, kTensors, kScalars>};
}

template <size_t kTensors, size_t kScalars, class Function>
constexpr Elementwise whole(Function) {
  return {nullptr, &apply<int64_t, Function, kTensors, kScalars>};
}

// Whether the output has the shape to which the inputs are broadcast, or they are broadcast to its.
enum class Shape : uint8_t { of_inputs, of_output };

SOFTNPU_EXPORT Run plan_elementwise(const Given& given, const Elementwise& formula,
                                    Shape shape = Shape::of_inputs);

}  // namespace softnpu::described
