// SPDX-License-Identifier: Apache-2.0
// Products of matrices. Those of integers are exact modulo 2^64; others are added in float64.
#include <algorithm>
#include <cmath>

#include "everyday/layers.h"
#include "loops/threads.h"

namespace softnpu::everyday {
namespace {

// A batch of products m×k · k×n. Dimensions before the last two are broadcast.
struct Factors {
  int64_t m = 1, k = 1, n = 1;
  std::vector<int64_t> left, right;  // for each product, which matrix of each factor
  Dims sizes;
  bool is_whole = false;
};

// Which matrix of a tensor each element of a batch is, to which its sizes `own` are broadcast.
std::vector<int64_t> matrices(const Dims& batch, std::span<const int64_t> own) {
  const size_t missing = batch.size() - own.size();
  std::vector<int64_t> found{0};
  for (size_t d = 0; d < batch.size(); ++d) {
    const int64_t size = d < missing ? 1 : own[d - missing];
    std::vector<int64_t> next;
    for (int64_t before : found)
      for (int64_t i = 0; i < batch[d]; ++i) next.push_back(before * size + (size == 1 ? 0 : i));
    found = std::move(next);
  }
  return found;
}

std::span<const int64_t> batch_of(const Tensor& tensor) {
  return std::span<const int64_t>(tensor.sizes).first(tensor.rank() < 2 ? 0 : tensor.rank() - 2);
}

// Which batch two tensors of matrices have together.
Dims common_batch(const Given& given, std::string_view left, std::string_view right) {
  const Dims a(batch_of(given.tensor(left))), b(batch_of(given.tensor(right)));
  const auto batch = broadcast_sizes(a, b);
  require(batch.has_value(), "broadcast"_rule, left, " and ", right, " have batches ", a, " and ",
          b, ", which cannot be broadcast");
  return *batch;
}

// As torch.matmul: a vector at the left is a row, and at the right a column; the result lacks the
// dimension.
Factors factors(const Given& given, std::string_view left, std::string_view right) {
  const Tensor &a = given.tensor(left), &b = given.tensor(right);
  require_rank(given, left, 1, 64);
  require_rank(given, right, 1, 64);
  const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  Factors found;
  found.k = a.sizes[a.rank() - 1];
  const int64_t rows = b.sizes[is_column ? 0 : b.rank() - 2];
  require(found.k == rows, "inner-sizes"_rule, left, " has shape ", a.sizes, " and ", right,
          " has shape ", b.sizes, "; the inner sizes ", found.k, " and ", rows, " must be equal");
  const Dims batch = common_batch(given, left, right);
  std::vector<int64_t> sizes(batch.begin(), batch.end());
  if (!is_row) sizes.push_back(found.m = a.sizes[a.rank() - 2]);
  if (!is_column) sizes.push_back(found.n = b.sizes[b.rank() - 1]);
  found.sizes = Dims(std::span<const int64_t>(sizes));
  found.left = matrices(batch, batch_of(a));
  found.right = matrices(batch, batch_of(b));
  found.is_whole = !is_floating(a.dtype) && !is_floating(b.dtype);
  given.require_shape("out", found.sizes);
  return found;
}

double times(double a, double b) { return a * b; }
double plus(double a, double b) { return a + b; }
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Adds `rows` rows of a product to c. Blocks of b stay in the cache; each sum is in the order of k.
template <class T>
void add_rows(const T* a, const T* b, int64_t rows, int64_t k, int64_t n, T* c) {
  constexpr int64_t kDepth = 64, kWidth = 512;
  for (int64_t deep = 0; deep < k; deep += kDepth)
    for (int64_t wide = 0; wide < n; wide += kWidth) {
      const int64_t depth = std::min(k, deep + kDepth), width = std::min(n, wide + kWidth);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t l = deep; l < depth; ++l) {
          const T factor = a[i * k + l];
          for (int64_t j = wide; j < width; ++j)
            c[i * n + j] = plus(c[i * n + j], times(factor, b[l * n + j]));
        }
    }
}

template <class T>
std::vector<T> multiply(const Factors& f, const std::vector<T>& a, const std::vector<T>& b) {
  const int64_t rows = static_cast<int64_t>(f.left.size()) * f.m;
  std::vector<T> c(static_cast<size_t>(rows * f.n));
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 18) / (f.k * f.n + 1));
  loops::parallel_for(
      rows, grain, loops::usable_threads(), [&](int64_t begin, int64_t end, int /*worker*/) {
        while (begin < end) {
          const int64_t which = begin / f.m, stop = std::min(end, (which + 1) * f.m);
          const auto at = static_cast<size_t>(which);
          add_rows(a.data() + (f.left[at] * f.m + begin % f.m) * f.k,
                   b.data() + f.right[at] * f.k * f.n, stop - begin, f.k, f.n,
                   c.data() + begin * f.n);
          begin = stop;
        }
      });
  return c;
}

Run plan_product(const Given& given, const char* left, const char* right) {
  return [=, f = factors(given, left, right)](const Arrays& arrays) {
    if (f.is_whole)
      arrays.write("out", multiply(f, arrays.read<int64_t>(left), arrays.read<int64_t>(right)));
    else
      arrays.write("out", multiply(f, arrays.read(left), arrays.read(right)));
  };
}

// alpha · product + beta · self, without self where beta is 0.
template <class T>
void write_sum(const Factors& f, const Arrays& arrays, std::vector<T> sums, double alpha,
               double beta) {
  for (T& sum : sums) sum = times(sum, static_cast<T>(alpha));
  if (beta != 0) {
    const std::vector<T> self = arrays.read<T>("self", f.sizes);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = plus(sums[i], times(self[i], static_cast<T>(beta)));
  }
  arrays.write("out", sums);
}

Run plan_sum(const Given& given, const char* left, const char* right, size_t rank) {
  require_rank(given, left, rank, rank);
  require_rank(given, right, rank, rank);
  Factors f = factors(given, left, right);
  const Tensor& self = given.tensor("self");
  require(broadcast_sizes(self.sizes, f.sizes) == f.sizes, "broadcast"_rule, "self has shape ",
          self.sizes, ", which cannot be broadcast to ", f.sizes);
  const double alpha = given.real("alpha"), beta = given.real("beta");
  f.is_whole &= !is_floating(self.dtype) && alpha == std::trunc(alpha) && beta == std::trunc(beta);
  return [=](const Arrays& arrays) {
    if (f.is_whole)
      write_sum(f, arrays, multiply(f, arrays.read<int64_t>(left), arrays.read<int64_t>(right)),
                alpha, beta);
    else
      write_sum(f, arrays, multiply(f, arrays.read(left), arrays.read(right)), alpha, beta);
  };
}

Run plan_ranked(const Given& given, const char* right, size_t left_rank, size_t right_rank) {
  require_rank(given, "self", left_rank, left_rank);
  require_rank(given, right, right_rank, right_rank);
  return plan_product(given, "self", right);
}

}  // namespace

Run matmul(const Given& given) { return plan_product(given, "self", "mat2"); }
Run mm(const Given& given) { return plan_ranked(given, "mat2", 2, 2); }
Run batch_mat_mul(const Given& given) { return plan_ranked(given, "mat2", 3, 3); }
Run mv(const Given& given) { return plan_ranked(given, "vec", 2, 1); }
Run dot(const Given& given) { return plan_ranked(given, "tensor", 1, 1); }
Run addmm(const Given& given) { return plan_sum(given, "mat1", "mat2", 2); }
Run baddbmm(const Given& given) { return plan_sum(given, "batch1", "batch2", 3); }

Run trans_matmul_weight(const Given& given) {
  require_rank(given, "weight", 2, 64);
  return [](const Arrays&) {};  // products read any layout
}

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

// By reflections (Householder). a, m×n, becomes R, and q, m×m, the product of the reflections.
void decompose(int64_t m, int64_t n, double* a, double* q) {
  for (int64_t i = 0; i < m * m; ++i) q[i] = i % (m + 1) == 0;
  std::vector<double> v(static_cast<size_t>(m));
  // Reflects a row or a column: n elements, `step` apart.
  const auto reflect = [&](double* x, int64_t step, int64_t from, double square) {
    double sum = 0;
    for (int64_t i = from; i < m; ++i) sum += v[static_cast<size_t>(i)] * x[i * step];
    for (int64_t i = from; i < m; ++i) x[i * step] -= 2 * sum / square * v[static_cast<size_t>(i)];
  };
  for (int64_t j = 0; j < std::min(m - 1, n); ++j) {
    double norm = 0, square = 0;
    for (int64_t i = j; i < m; ++i) norm = std::hypot(norm, a[i * n + j]);
    if (norm == 0) continue;
    for (int64_t i = j; i < m; ++i) {
      const double x = a[i * n + j] / norm;
      const double mirrored = i == j ? x + std::copysign(1.0, x) : x;
      v[static_cast<size_t>(i)] = mirrored;
      square += mirrored * mirrored;
    }
    for (int64_t column = j; column < n; ++column) reflect(a + column, n, j, square);
    for (int64_t row = 0; row < m; ++row) reflect(q + row * m, 1, j, square);
    for (int64_t i = j + 1; i < m; ++i) a[i * n + j] = 0;
  }
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
    std::vector<double> a = arrays.read("self"), q(static_cast<size_t>(m * m)), qs, rs;
    for (int64_t i = 0; i < batch; ++i) {
      double* const r = a.data() + i * m * n;
      decompose(m, n, r, q.data());
      for (int64_t row = 0; row < m; ++row)
        qs.insert(qs.end(), q.data() + row * m, q.data() + row * m + inner);
      rs.insert(rs.end(), r, r + inner * n);
    }
    if (mode != 2) arrays.write("Q", qs);
    arrays.write("R", rs);
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
    for (int64_t i = 0; i < product(batch); ++i)
      solve(matrix.data() + i * m * m, x.data() + i * m * n);
    arrays.write("xOut", x);
    arrays.write("mOut", matrix);
  };
}

}  // namespace softnpu::everyday
