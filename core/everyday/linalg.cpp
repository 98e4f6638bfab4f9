// SPDX-License-Identifier: Apache-2.0
// Linear algebra in float64.
#include <algorithm>
#include <cmath>

#include "everyday/layers.h"

namespace softnpu::everyday {

Run linalg_cross(const Given& given) {
  const Tensor& self = given.tensor("self");
  const auto sizes = broadcast_sizes(self.sizes, given.tensor("other").sizes);
  require(sizes.has_value(), "broadcast"_rule, "self has shape ", self.sizes,
          " and other has shape ", given.tensor("other").sizes, ", which cannot be broadcast");
  given.require_shape("out", *sizes);
  const Around at = around(*sizes, given.dim("dim", given.tensor("out")));
  require(at.length == 3, "dimension-size"_rule, "dimension dim has size ", at.length,
          "; expected 3");
  return [at, sizes = *sizes](const Arrays& arrays) {
    const std::vector<double> a = arrays.read("self", sizes), b = arrays.read("other", sizes);
    std::vector<double> out(a.size());
    for_each_line(at, [&](int64_t first, int64_t step) {
      const auto x = static_cast<size_t>(first), y = static_cast<size_t>(first + step),
                 z = static_cast<size_t>(first + 2 * step);
      out[x] = a[y] * b[z] - a[z] * b[y];
      out[y] = a[z] * b[x] - a[x] * b[z];
      out[z] = a[x] * b[y] - a[y] * b[x];
    });
    arrays.write("out", out);
  };
}

namespace {

// A reflection (Householder) of the last elements of a column.
struct Reflection {
  Values v;
  double square = 0;

  void reflect_columns(double* a, int64_t first_row, int64_t first_column, int64_t columns) const {
    const auto count = static_cast<int64_t>(v.size());
    for (int64_t column = first_column; column < columns; ++column) {
      double* const x = a + first_row * columns + column;
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += v[static_cast<size_t>(i)] * x[i * columns];
      for (int64_t i = 0; i < count; ++i)
        x[i * columns] -= 2 * sum / square * v[static_cast<size_t>(i)];
    }
  }
};

// a, m×n, becomes R, and q, m×k, the first columns of the product of the reflections.
void decompose(int64_t m, int64_t n, int64_t k, double* a, double* q) {
  std::vector<Reflection> reflections(
      static_cast<size_t>(std::max<int64_t>(std::min(m - 1, n), 0)));
  for (int64_t j = 0; j < static_cast<int64_t>(reflections.size()); ++j) {
    Reflection& reflection = reflections[static_cast<size_t>(j)];
    double norm = 0;
    for (int64_t i = j; i < m; ++i) norm = std::hypot(norm, a[i * n + j]);
    if (norm == 0) continue;
    for (int64_t i = j; i < m; ++i) {
      const double x = a[i * n + j] / norm;
      const double mirrored = i == j ? x + std::copysign(1.0, x) : x;
      reflection.v.push_back(mirrored);
      reflection.square += mirrored * mirrored;
    }
    reflection.reflect_columns(a, j, j, n);
    for (int64_t i = j + 1; i < m; ++i) a[i * n + j] = 0;
  }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t column = 0; column < k; ++column) q[i * k + column] = i == column;
  for (auto j = static_cast<int64_t>(reflections.size()); j-- > 0;)
    reflections[static_cast<size_t>(j)].reflect_columns(q, j, 0, k);
}

Dims matrix_sizes(std::span<const int64_t> batch, int64_t rows, int64_t columns) {
  std::vector<int64_t> sizes(batch.begin(), batch.end());
  sizes.insert(sizes.end(), {rows, columns});
  return Dims(std::span<const int64_t>(sizes));
}

}  // namespace

Run linalg_qr(const Given& given) {
  require_rank(given, "self", 2, 64);
  const Tensor& self = given.tensor("self");
  const int64_t mode = given.integer("mode");
  require(0 <= mode && mode <= 2, "mode-range"_rule, "mode is ", mode,
          "; expected 0 (reduced), 1 (complete) or 2 (only R)");
  const int64_t m = self.sizes[self.rank() - 2], n = self.sizes[self.rank() - 1];
  const int64_t inner = mode == 1 ? m : std::min(m, n), batch = product(batch_of(self));
  given.require_shape("Q", mode == 2 ? Dims{0} : matrix_sizes(batch_of(self), m, inner));
  given.require_shape("R", matrix_sizes(batch_of(self), inner, n));
  return [=](const Arrays& arrays) {
    std::vector<double> a = arrays.read("self"), rs;
    std::vector<double> qs(static_cast<size_t>(batch * m * inner));
    for (int64_t i = 0; i < batch && inner > 0; ++i) {
      double* const r = a.data() + i * m * n;
      decompose(m, n, inner, r, qs.data() + i * m * inner);
      rs.insert(rs.end(), r, r + inner * n);
    }
    if (mode != 2) arrays.write("Q", qs);
    arrays.write("R", rs);
  };
}

namespace {

// Replaces an n×n matrix by its inverse (Gauss and Jordan, with the largest pivot of each column).
void invert(int64_t n, double* a, double* inverse) {
  for (int64_t i = 0; i < n * n; ++i) inverse[i] = i % (n + 1) == 0;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column; row < n; ++row)
      if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) pivot = row;
    for (double* matrix : {a, inverse})
      if (pivot != column)
        std::swap_ranges(matrix + pivot * n, matrix + (pivot + 1) * n, matrix + column * n);
    const double scale = a[column * n + column];
    for (double* matrix : {a, inverse})
      for (int64_t i = 0; i < n; ++i) matrix[column * n + i] /= scale;
    for (int64_t row = 0; row < n; ++row) {
      const double factor = a[row * n + column];
      if (row == column || factor == 0) continue;
      for (double* matrix : {a, inverse})
        for (int64_t i = 0; i < n; ++i) matrix[row * n + i] -= factor * matrix[column * n + i];
    }
  }
}

}  // namespace

Run inverse(const Given& given) {
  require_rank(given, "self", 2, 64);
  require_like(given, "out", "self");
  const Tensor& self = given.tensor("self");
  const int64_t n = self.sizes.back();
  given.require_shape("self", matrix_sizes(batch_of(self), n, n));
  return [n, batch = product(batch_of(self))](const Arrays& arrays) {
    std::vector<double> a = arrays.read("self"), out(a.size());
    for (int64_t i = 0; i < batch && n > 0; ++i)
      invert(n, a.data() + i * n * n, out.data() + i * n * n);
    arrays.write("out", out);
  };
}

Run triangular_solve(const Given& given) {
  require_rank(given, "self", 2, 64);
  require_rank(given, "A", 2, 64);
  const Tensor &self = given.tensor("self"), &a = given.tensor("A");
  const int64_t m = self.sizes[self.rank() - 2], n = self.sizes[self.rank() - 1];
  const Dims batch = common_batch(given, "self", "A");
  given.require_shape("A", matrix_sizes(batch_of(a), m, m));
  given.require_shape("xOut", matrix_sizes(batch, m, n));
  given.require_shape("mOut", matrix_sizes(batch, m, m));
  const bool transposed = given.integer("transpose") != 0;
  const bool is_upper = (given.integer("upper") != 0) != transposed;
  const bool is_unit = given.integer("unitriangular") != 0;
  return [=, x_sizes = matrix_sizes(batch, m, n),
          a_sizes = matrix_sizes(batch, m, m)](const Arrays& arrays) {
    std::vector<double> x = arrays.read("self", x_sizes);
    const std::vector<double> matrix = arrays.read("A", a_sizes);
    const auto solve = [&](const double* factor, double* rows) {
      for (int64_t step = 0; step < m; ++step) {
        const int64_t i = is_upper ? m - 1 - step : step;
        const auto at = [&](int64_t j) { return factor[transposed ? j * m + i : i * m + j]; };
        for (int64_t done = 0; done < step; ++done) {
          const int64_t j = is_upper ? m - 1 - done : done;
          for (int64_t c = 0; c < n; ++c) rows[i * n + c] -= at(j) * rows[j * n + c];
        }
        for (int64_t c = 0; c < n && !is_unit; ++c) rows[i * n + c] /= at(i);
      }
    };
    for (int64_t i = 0; i < product(batch) && !x.empty(); ++i)
      solve(matrix.data() + i * m * m, x.data() + i * m * n);
    arrays.write("xOut", x);
    arrays.write("mOut", matrix);
  };
}

}  // namespace softnpu::everyday
