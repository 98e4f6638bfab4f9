// SPDX-License-Identifier: Apache-2.0
// Normalisation. In all kinds, rows of elements are normalised each by itself: (x - mean) · scale,
// where scale is 1 / sqrt(variance + eps), then multiplied by a weight and added to a bias.
#pragma once

#include <array>

#include "everyday/layers.h"

namespace softnpu::everyday {

struct NormRows {
  int64_t count, length;
  int64_t parameters;                 // the number of weights, and of biases
  int64_t groups = 1;                 // of rows, each of which has weights of its own
  int64_t inner = 1;                  // how many adjacent elements have one weight
  bool is_centred = true;             // else the mean counts as 0
  bool has_fixed_statistics = false;  // gradients take them for constants

  size_t parameter(int64_t row, int64_t j) const {
    return static_cast<size_t>(row % groups * (parameters / groups) + j / inner);
  }
};

struct Statistics {  // of each row
  Values mean, variance, scale;
};

Values scales(const Values& variances, double eps);
Statistics measure(const NormRows& rows, const Values& x, double eps);
// Weights or biases may be empty: 1 and 0.
void normalise(const NormRows& rows, const Statistics& statistics, const Values& weight,
               const Values& bias, Values& x);

struct Gradients {
  Values input, weight, bias;
};

Gradients differentiate(const NormRows& rows, const Statistics& statistics, const Values& grad,
                        const Values& x, const Values& weight);

// A value for each row, in whatever shape; nothing if it is absent.
void require_row_values(const Given& given, std::string_view name, const NormRows& rows);

using Names = std::array<const char*, 3>;  // of the gradients of input, weight and bias

// Which of them are wanted.
std::array<bool, 3> check_gradients(const Given& given, const Names& names, const Dims& input,
                                    const Dims& parameters);

}  // namespace softnpu::everyday
