// SPDX-License-Identifier: Apache-2.0
// Reductions: each result comes from a row of elements, in the order of memory's dimensions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "described/formulas.h"
#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

using Along = std::vector<bool>;

Dims reduced_sizes(const Tensor& self, const Along& along, bool keep) {
  Sizes sizes;
  for (size_t d = 0; d < self.rank(); ++d)
    if (!along[d] || keep) sizes.push_back(along[d] ? 1 : self.sizes[d]);
  return Dims(sizes);
}

// The dimensions in `dims`, or that in `dim`; the output's shape fits.
Along checked_dims(const Given& given, std::string_view name = "dims",
                   std::string_view out = "out") {
  const Tensor& self = given.tensor("self");
  Along along(std::max<size_t>(self.rank(), 1));
  if (name == "dims")
    along = given.dims("dims", self);
  else
    along[given.dim("dim", self)] = true;
  given.require_shape(out, reduced_sizes(self, along, given.integer("keepDim") != 0));
  return along;
}

Along all_dims(const Given& given) {
  require_elements(given, "out", 1);
  return Along(std::max<size_t>(given.tensor("self").rank(), 1), true);
}

// Whether elements are computed as int64 if the caller asks for the data type `dtype`.
bool is_whole_type(const Given& given) {
  const DType type = given.dtype("dtype");
  require(is_real(type), "dtype-unsupported"_rule, "dtype is ", type, ", which is not supported");
  return !is_floating(type);
}

void require_not_empty(const Rows& rows) {
  require(rows.length > 0 || rows.count == 0, "reduction-empty"_rule,
          "self has no elements along the reduced dimensions; expected at least one");
}

// out = of_row(the elements of a row)
template <class OfRow>
Run reduce(bool whole, const Rows& rows, OfRow of_row) {
  return in_type(whole, [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = read<T>(arrays, "self", rows);
    std::vector<decltype(of_row(std::span<const T>()))> results;
    for (int64_t i = 0; i < rows.count; ++i)
      results.push_back(of_row(std::span(values).subspan(static_cast<size_t>(i * rows.length),
                                                         static_cast<size_t>(rows.length))));
    arrays.write("out", results);
  });
}

// Combines the elements along the reduced dimensions, in row-major order.
template <class T, class Combine>
std::vector<T> folded(const View& self, const Along& along, T start, Combine combine) {
  Tensor sums = *self.tensor;  // strides of 0 along the reduced dimensions
  int64_t count = 1;
  for (size_t d = sums.rank(); d-- > 0;) {
    sums.strides[d] = along[d] ? 0 : count;
    if (!along[d]) count *= sums.sizes[d];
  }
  std::vector<T> results(static_cast<size_t>(count), start), block(described::Walk::kBlock);
  const auto load = described::loader<T>(self.tensor->dtype);
  const described::Walk walk(self.tensor->sizes, {self.tensor, &sums});
  const int64_t from = walk.row_stride(0), to = walk.row_stride(1);
  walk.for_each_block([&](const std::vector<int64_t>& offsets, int64_t n) {
    load(self.first + offsets[0] * item_size(self.tensor->dtype), from, n, block.data());
    T* const result = results.data() + offsets[1];
    if (to == 0) {
      T sum = *result;
      for (int64_t i = 0; i < n; ++i) sum = combine(sum, block[static_cast<size_t>(i)]);
      *result = sum;
    } else {
      for (int64_t i = 0; i < n; ++i)
        result[i * to] = combine(result[i * to], block[static_cast<size_t>(i)]);
    }
  });
  return results;
}

template <class Combine>
Run fold(bool whole, const Along& along, int64_t start, Combine combine) {
  return in_type(whole, [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    arrays.write("out", folded(arrays.view("self"), along, static_cast<T>(start), combine));
  });
}

constexpr auto kSum = [](auto a, auto b) { return plus(a, b); };
constexpr auto kProduct = [](auto a, auto b) { return times(a, b); };

// The largest or smallest element, or NaN where there is one.
template <class Better>
Run extreme(const Given& given, const Along& along, Better better, const char* out = "out") {
  require_not_empty(rows_of(given.tensor("self"), along));
  return in_type(is_whole(given.tensor("self")), [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    const T least = std::is_integral_v<T> ? Limits::lowest() : -Limits::infinity();
    const T most = std::is_integral_v<T> ? Limits::max() : Limits::infinity();
    const T worst = better(least, most) == most ? least : most;
    arrays.write(out, folded(arrays.view("self"), along, worst, better));
  });
}

constexpr auto kLarger = [](auto a, auto b) { return larger(a, b); };
constexpr auto kSmaller = [](auto a, auto b) { return smaller(a, b); };

// Where it is: the first position.
template <class Better>
Run extreme_position(const Given& given, Better better, bool with_values) {
  const Rows rows = rows_of(given.tensor("self"), given.dim("dim", given.tensor("self")));
  require_not_empty(rows);
  return in_type(is_whole(given.tensor("self")), [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = read<T>(arrays, "self", rows);
    std::vector<T> best;
    std::vector<int64_t> positions;
    for (const T* row = values.data(); row != values.data() + values.size(); row += rows.length) {
      int64_t at = 0;
      T top = row[0];
      for (int64_t i = 1; i < rows.length && top == top; ++i) {
        if (better(top, row[i]) == top) continue;
        at = i;
        top = row[i];
      }
      best.push_back(top);
      positions.push_back(at);
    }
    if (with_values) arrays.write("out", best);
    arrays.write(with_values ? "indices" : "out", positions);
  });
}

template <class Better>
Run extreme_dim(const Given& given, Better better) {
  checked_dims(given, "dim");
  given.require_shape("indices", given.tensor("out").sizes);
  return extreme_position(given, better, true);
}

Run norm_of(const Given& given, double p) {
  return reduce(false, rows_of(given.tensor("self"), checked_dims(given)), [=](auto row) {
    double sum = p == -HUGE_VAL ? HUGE_VAL : 0;
    for (auto value : row) {
      const double size = std::fabs(static_cast<double>(value));
      if (std::isinf(p))
        sum = p > 0 ? larger(sum, size) : smaller(sum, size);
      else
        sum += p == 0 ? size != 0 : p == 1 ? size : p == 2 ? size * size : std::pow(size, p);
    }
    if (std::isinf(p) || p == 0 || p == 1) return sum;
    return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  });
}

}  // namespace

Run reduce_sum(const Given& given) {
  return fold(is_whole_type(given), checked_dims(given), 0, kSum);
}

Run reduce_nansum(const Given& given) {
  return fold(is_whole_type(given), checked_dims(given), 0,
              [](auto sum, auto value) { return value == value ? plus(sum, value) : sum; });
}

Run mean(const Given& given) {
  is_whole_type(given);
  const Along along = checked_dims(given);
  const auto length = static_cast<double>(rows_of(given.tensor("self"), along).length);
  return [=](const Arrays& arrays) {
    std::vector<double> sums = folded(arrays.view("self"), along, 0.0, kSum);
    for (double& sum : sums) sum /= length;
    arrays.write("out", sums);
  };
}

Run amax(const Given& given) { return extreme(given, checked_dims(given), kLarger); }
Run amin(const Given& given) { return extreme(given, checked_dims(given), kSmaller); }
Run max(const Given& given) { return extreme(given, all_dims(given), kLarger); }
Run max_dim(const Given& given) { return extreme_dim(given, kLarger); }
Run min_dim(const Given& given) { return extreme_dim(given, kSmaller); }

Run arg_max(const Given& given) {
  checked_dims(given, "dim");
  return extreme_position(given, kLarger, false);
}

Run arg_min(const Given& given) {
  checked_dims(given, "dim");
  return extreme_position(given, kSmaller, false);
}

Run aminmax(const Given& given) {
  const Run low = extreme(given, checked_dims(given, "dims", "minOut"), kSmaller, "minOut");
  const Run high = extreme(given, checked_dims(given, "dims", "maxOut"), kLarger, "maxOut");
  return [=](const Arrays& arrays) {
    low(arrays);
    high(arrays);
  };
}

// Of an even number of elements, the lower one of the two in the middle. NaN wins.
Run median(const Given& given) {
  const Rows rows = rows_of(given.tensor("self"), all_dims(given));
  require_not_empty(rows);
  return reduce(is_whole(given.tensor("self")), rows, [](auto row) {
    std::vector values(row.begin(), row.end());
    for (auto value : values)
      if (value != value) return value;
    const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
  });
}

Run var(const Given& given) {
  const Rows rows = rows_of(given.tensor("self"), checked_dims(given));
  const double lost = given.integer("unbiased") != 0 ? 1 : 0;
  return reduce(false, rows, [lost](auto row) {
    const auto count = static_cast<double>(row.size());
    double sum = 0, squares = 0;
    for (double value : row) sum += value;
    for (double value : row) squares += (value - sum / count) * (value - sum / count);
    return squares / std::fmax(count - lost, 0);
  });
}

Run log_sum_exp(const Given& given) {
  return reduce(false, rows_of(given.tensor("self"), checked_dims(given)), [](auto row) {
    double top = -HUGE_VAL, sum = 0;
    for (double value : row) top = larger(top, value);
    if (std::isinf(top)) return top;
    for (double value : row) sum += std::exp(value - top);
    return top + std::log(sum);
  });
}

Run prod(const Given& given) { return fold(is_whole_type(given), all_dims(given), 1, kProduct); }

Run prod_dim(const Given& given) {
  return fold(is_whole_type(given), checked_dims(given, "dim"), 1, kProduct);
}

Run all_nonzero(const Given& given) {
  return fold(is_whole(given.tensor("self")), checked_dims(given), 1,
              [](auto so_far, auto value) { return so_far * (value != 0); });
}

Run any_nonzero(const Given& given) {
  return fold(is_whole(given.tensor("self")), checked_dims(given), 0,
              [](auto so_far, auto value) { return value != 0 ? so_far * 0 + 1 : so_far; });
}

Run norm(const Given& given) { return norm_of(given, given.real("p")); }

Run linalg_vector_norm(const Given& given) {
  is_whole_type(given);
  return norm_of(given, given.real("ord"));
}

Run bincount(const Given& given) {
  const Tensor &self = given.tensor("self"), &out = given.tensor("out");
  require_index_type(given, "self");
  require(self.rank() == 1 && out.rank() == 1, "rank-differs"_rule, "self has shape ", self.sizes,
          " and out has shape ", out.sizes, "; expected rank 1");
  require(out.sizes[0] >= given.integer("minlength"), "shape-differs"_rule, "out has shape ",
          out.sizes, "; expected minlength ", given.integer("minlength"), " or more");
  if (given.has("weights")) given.require_shape("weights", self.sizes);
  const bool whole = !given.has("weights") || is_whole(given.tensor("weights"));
  return in_type(whole, [=, sizes = self.sizes, length = out.sizes[0],
                         weighted = given.has("weights")](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const Sizes values = read_indices(arrays, "self", sizes, length);
    const std::vector<T> weights = arrays.read<T>("weights");
    std::vector<T> sums(static_cast<size_t>(length));
    for (size_t i = 0; i < values.size(); ++i) {
      T& sum = sums[static_cast<size_t>(values[i])];
      sum = plus(sum, weighted ? weights[i] : T(1));
    }
    arrays.write("out", sums);
  });
}

}  // namespace softnpu::everyday
