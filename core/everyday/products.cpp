// SPDX-License-Identifier: Apache-2.0
// Products of matrices. Those of integers are exact modulo 2^64; others are added in float64.
#include <algorithm>
#include <cmath>

#include "everyday/layers.h"
#include "everyday/views.h"
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

// As torch.matmul: a vector at the left is a row, and at the right a column; the result lacks the
// dimension.
Factors factors(const Given& given, std::string_view left, std::string_view right, const Tensor& a,
                const Tensor& b) {
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
  if (product(found.sizes) != 0) {
    found.left = matrices(batch, batch_of(a));
    found.right = matrices(batch, batch_of(b));
  }
  found.is_whole = !is_floating(a.dtype) && !is_floating(b.dtype);
  given.require_shape("out", found.sizes);
  return found;
}

Factors factors(const Given& given, std::string_view left, std::string_view right) {
  return factors(given, left, right, given.tensor(left), given.tensor(right));
}

// Adds multiples of `count` rows of b, which are n apart, to a row of c, one after the other.
template <class T>
void add_multiples(const T* factors, int64_t count, const T* b, int64_t n, int64_t width, T* c) {
  int64_t l = 0;
  for (; l + 4 <= count; l += 4) {  // four at once load and store c less often
    const T f0 = factors[l], f1 = factors[l + 1], f2 = factors[l + 2], f3 = factors[l + 3];
    const T *b0 = b + l * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
    for (int64_t j = 0; j < width; ++j) {
      const T sum = plus(plus(c[j], times(f0, b0[j])), times(f1, b1[j]));
      c[j] = plus(plus(sum, times(f2, b2[j])), times(f3, b3[j]));
    }
  }
  for (; l < count; ++l)
    for (int64_t j = 0; j < width; ++j) c[j] = plus(c[j], times(factors[l], b[l * n + j]));
}

// Adds `rows` rows of a product to c. Blocks of b stay in the cache; each sum is in the order of k.
template <class T>
void add_rows(const T* a, const T* b, int64_t rows, int64_t k, int64_t n, T* c) {
  constexpr int64_t kDepth = 64, kWidth = 512;
  for (int64_t l = 0; l < k; l += kDepth)
    for (int64_t j = 0; j < n; j += kWidth)
      for (int64_t i = 0; i < rows; ++i)
        add_multiples(a + i * k + l, std::min(kDepth, k - l), b + l * n + j, n,
                      std::min(kWidth, n - j), c + i * n + j);
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

// alpha · left · right + beta · added, without `added` where beta is 0.
struct ScaledSum {
  const char *left, *right, *added;
  double alpha, beta;
  bool turns_left = false, turns_right = false;  // transpose the matrix
};

// A matrix, transposed or as it is.
Tensor turned(Tensor matrix, bool turns) {
  if (turns) {
    std::swap(matrix.sizes[0], matrix.sizes[1]);
    std::swap(matrix.strides[0], matrix.strides[1]);
  }
  return matrix;
}

template <class T>
std::vector<T> read_turned(const Arrays& arrays, std::string_view name, bool turns) {
  const View view = arrays.view(name);
  const Tensor matrix = turned(*view.tensor, turns);
  return described::read<T>(View{&matrix, view.first}, matrix.sizes);
}

template <class T>
void write_sum(const Factors& f, const ScaledSum& of, const Arrays& arrays) {
  std::vector<T> sums = multiply(f, read_turned<T>(arrays, of.left, of.turns_left),
                                 read_turned<T>(arrays, of.right, of.turns_right));
  for (T& sum : sums) sum = times(sum, static_cast<T>(of.alpha));
  if (of.beta != 0) {
    const std::vector<T> added = arrays.read<T>(of.added, f.sizes);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = plus(sums[i], times(added[i], static_cast<T>(of.beta)));
  }
  arrays.write("out", sums);
}

// Whether int64 holds the number.
bool is_int64(double number) { return number == std::trunc(number) && std::fabs(number) < 0x1p63; }

Run plan_sum(const Given& given, const ScaledSum& of, size_t rank) {
  require_rank(given, of.left, rank, rank);
  require_rank(given, of.right, rank, rank);
  Factors f = factors(given, of.left, of.right, turned(given.tensor(of.left), of.turns_left),
                      turned(given.tensor(of.right), of.turns_right));
  require_broadcast(given, of.added, f.sizes);
  f.is_whole &= is_int64(of.alpha) && is_int64(of.beta);
  if (given.has(of.added)) f.is_whole &= !is_floating(given.tensor(of.added).dtype);
  return [=](const Arrays& arrays) {
    if (f.is_whole)
      write_sum<int64_t>(f, of, arrays);
    else
      write_sum<double>(f, of, arrays);
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
Run batch_mat_mul(const Given& given) {
  for (const char* name : {"self", "mat2"}) require_rank(given, name, 3, 64);
  return plan_product(given, "self", "mat2");
}
Run mv(const Given& given) { return plan_ranked(given, "vec", 2, 1); }
Run dot(const Given& given) { return plan_ranked(given, "tensor", 1, 1); }
Run addmm(const Given& given) {
  return plan_sum(given, {"mat1", "mat2", "self", given.real("alpha"), given.real("beta")}, 2);
}
Run baddbmm(const Given& given) {
  return plan_sum(given, {"batch1", "batch2", "self", given.real("alpha"), given.real("beta")}, 3);
}
Run gemm(const Given& given) {
  const ScaledSum of{"A",
                     "B",
                     "C",
                     given.number("alpha"),
                     given.number("beta"),
                     given.integer("transA") != 0,
                     given.integer("transB") != 0};
  if (of.beta != 0) require_given(given, "C");
  return plan_sum(given, of, 2);
}

namespace {

// Elements of INT4 in row-major order, of a matrix whose bytes are at hand. The first of two has
// the lower bits.
Values read_int4(const Tensor& matrix, const View& bytes) {
  Values values(static_cast<size_t>(matrix.numel()));
  auto next = values.begin();
  for (int64_t i = 0; i < matrix.sizes[0]; ++i)
    for (int64_t j = 0; j < matrix.sizes[1]; ++j) {
      const int64_t at = matrix.offset + i * matrix.strides[0] + j * matrix.strides[1];
      const auto both = static_cast<int>(bytes.first[(at >> 1) - bytes.tensor->offset]);
      const int bits = (both >> (at % 2 * 4)) & 15;
      *next++ = bits < 8 ? bits : bits - 16;
    }
  return values;
}

}  // namespace

// x · ((weight + antiquantOffset) · antiquantScale) + bias. A row of the scales is for as many rows
// of the weight as a group has, or for all.
Run weight_quant_batch_matmul(const Given& given) {
  require_rank(given, "weight", 2, 2);
  require_absent(given, {"quantScale", "quantOffset"});
  Factors f = factors(given, "x", "weight");
  f.is_whole = false;
  const int64_t size = given.integer("antiquantGroupSize");
  require(size >= 0, "groups"_rule, "antiquantGroupSize is ", size, "; expected 0 or more");
  const int64_t rows = size == 0 ? std::max<int64_t>(f.k, 1) : size;
  const Dims groups{(f.k + rows - 1) / rows, f.n}, row{f.n};
  require_broadcast(given, "antiquantScale", groups);
  require_broadcast(given, "antiquantOffset", groups);
  require_broadcast(given, "bias", row);
  const bool has_offset = given.has("antiquantOffset"), has_bias = given.has("bias");
  return [=, weight = given.tensor("weight")](const Arrays& arrays) {
    Values b = weight.dtype == DType::i4 ? read_int4(weight, arrays.view("weight"))
                                         : arrays.read("weight");
    const Values scales = arrays.read("antiquantScale", groups);
    const Values offsets = has_offset ? arrays.read("antiquantOffset", groups) : Values();
    for (int64_t i = 0, at = 0; i < f.k; ++i)
      for (int64_t j = 0; j < f.n; ++j, ++at) {
        const auto group = static_cast<size_t>(i / rows * f.n + j);
        double& element = b[static_cast<size_t>(at)];
        element = (element + (has_offset ? offsets[group] : 0)) * scales[group];
      }
    Values c = multiply(f, arrays.read("x"), b);
    const Values bias = has_bias ? arrays.read("bias", row) : Values();
    for (size_t i = 0; has_bias && i < c.size(); ++i) c[i] += bias[i % bias.size()];
    arrays.write("out", c);
  };
}

Run trans_matmul_weight(const Given& given) {
  require_rank(given, "weight", 2, 64);
  return [](const Arrays&) {};  // products read any layout
}

}  // namespace softnpu::everyday
