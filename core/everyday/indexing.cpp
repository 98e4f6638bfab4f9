// SPDX-License-Identifier: Apache-2.0
// Slices by an index of one dimension, and single elements by an index of the output's shape. All
// indices are checked before anything is written.
#include "everyday/offsets.h"

namespace softnpu::everyday {
namespace {

// Sizes with those of `index` in place of dimension `dim`.
Sizes taken_sizes(const Tensor& self, size_t dim, std::span<const int64_t> index) {
  Sizes sizes(self.sizes.begin(), self.sizes.end());
  if (!sizes.empty()) sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(dim));
  sizes.insert(sizes.begin() + static_cast<ptrdiff_t>(dim), index.begin(), index.end());
  return sizes;
}

Run take(const Given& given, const char* self_name, const char* index_name, size_t dim,
         std::span<const int64_t> index_sizes) {
  const Tensor& self = given.tensor(self_name);
  require_index_type(given, index_name);
  given.require_shape("out", taken_sizes(self, dim, index_sizes));
  return in_type(is_whole(self), [=, view = view_of(self), sizes = given.tensor(index_name).sizes](
                                     const Arrays& arrays, auto zero) {
    const Sizes index = read_indices(arrays, index_name, sizes, view.sizes[dim]);
    arrays.write("out", pick<decltype(zero)>(arrays.view(self_name), slices(view, dim, index)));
  });
}

// The number of elements of an index of one dimension.
int64_t line_of_indices(const Given& given) {
  const Tensor& index = given.tensor("index");
  require_index_type(given, "index");
  require(index.rank() <= 1, "rank-differs"_rule, "index has shape ", index.sizes,
          "; expected rank 1");
  return index.numel();
}

// That `tensor` is like self, but has `count` slices; of a rank 0, one element.
void require_slices(const Given& given, const char* name, size_t dim, int64_t count) {
  const Tensor& self = given.tensor("self");
  const Sizes sizes = taken_sizes(self, dim, std::span(&count, 1));
  if (self.rank() == 0) return require_elements(given, name, count);
  given.require_shape(name, sizes);
}

// That `index` is not larger than another tensor except, if given, in dimension `free`.
void require_within(const Tensor& index, std::string_view name, const Tensor& other,
                    std::optional<size_t> free = {}) {
  bool fits = other.rank() == index.rank();
  for (size_t d = 0; fits && d < index.rank(); ++d)
    fits = d == free || index.sizes[d] <= other.sizes[d];
  require(fits || index.numel() == 0, "index-shape"_rule, "index has shape ", index.sizes, ", ",
          name, " has ", other.sizes, "; expected the same rank, and sizes that are not larger",
          free ? " except in dim" : "");
}

enum Reduce : int64_t { kByReplacing, kByAdding, kByMultiplying };

// `source` is a tensor or a scalar.
Run scatter_elements(const Given& given, int64_t reduce, const char* source) {
  const std::string_view in = input(given), out = output(given);
  const Tensor& self = given.tensor(in);
  const size_t dim = given.dim("dim", self);
  const bool is_tensor = given.op().parameters[given.index(source)].kind == Kind::tensor;
  require(kByReplacing <= reduce && reduce <= kByMultiplying, "reduce-range"_rule, "reduce is ",
          reduce, "; expected 0 (replace), 1 (add) or 2 (multiply)");
  require_index_type(given, "index");
  given.require_shape(out, self.sizes);
  const Tensor view = packed(self), index = view_of(given.tensor("index"));
  require_within(index, in, view, dim);
  Tensor from = is_tensor ? view_of(given.tensor(source)) : index;
  if (is_tensor) require_within(index, source, from);
  from.sizes = index.sizes;
  const bool whole = is_tensor ? is_whole(from) : !is_floating(given.scalar(source).dtype);
  const Scalar scalar = is_tensor ? Scalar{} : given.scalar(source);
  if (!is_tensor) given.real(source);
  return in_type(
      whole && is_whole(self), [=, sizes = index.sizes](const Arrays& arrays, auto zero) {
        using T = decltype(zero);
        const Sizes indices = read_indices(arrays, "index", sizes, view.sizes[dim]);
        std::vector<T> values = arrays.read<T>(in), sources(indices.size());
        if (is_tensor)
          sources = described::read<T>(at(arrays.view(source), from), sizes);
        else
          sources.assign(indices.size(), number_from<T>(scalar));
        const Sizes positions = indices.empty() ? Sizes() : elements(view, dim, sizes, indices);
        for (size_t i = 0; i < positions.size(); ++i) {
          T& value = values[static_cast<size_t>(positions[i])];
          value = reduce == kByReplacing ? sources[i]
                  : reduce == kByAdding  ? plus(value, sources[i])
                                         : times(value, sources[i]);
        }
        arrays.write(out, values);
      });
}

// self[.., index[k], ..] = value; `indices` is called with the arrays.
template <class Indices>
Run fill_slices(const Given& given, Indices indices) {
  const Tensor& self = given.tensor("self");
  const size_t dim = given.dim("dim", self);
  const Scalar value = given.scalar("value");
  given.real("value");
  return in_type(
      !is_floating(value.dtype), [=, view = view_of(self)](const Arrays& arrays, auto zero) {
        using T = decltype(zero);
        const Sizes offsets = slices(view, dim, indices(arrays, view.sizes[dim]));
        put(arrays.view("self"), offsets, std::vector<T>(offsets.size(), number_from<T>(value)));
      });
}

}  // namespace

Run gather(const Given& given) {
  const Tensor& self = given.tensor("self");
  const size_t dim = given.dim("dim", self);
  const Tensor view = view_of(self), index = view_of(given.tensor("index"));
  require_index_type(given, "index");
  require_within(index, "self", view, dim);
  given.require_shape("out", given.tensor("index").sizes);
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    const Sizes indices = read_indices(arrays, "index", index.sizes, view.sizes[dim], true);
    if (indices.empty()) return;
    const Sizes offsets = elements(view, dim, index.sizes, indices);
    arrays.write("out", pick<decltype(zero)>(arrays.view("self"), offsets));
  });
}

Run gather_v2(const Given& given) {
  const size_t dim = given.dim("dim", given.tensor("self"));
  return take(given, "self", "index", dim, given.tensor("index").sizes);
}

Run index_select(const Given& given) {
  const int64_t count = line_of_indices(given);
  const size_t dim = given.dim("dim", given.tensor("self"));
  return take(given, "self", "index", dim, std::span(&count, 1));
}

Run embedding(const Given& given) {
  const Dims& sizes = given.tensor("weight").sizes;
  require(sizes.size() == 2, "rank-differs"_rule, "weight has shape ", sizes, "; expected rank 2");
  return take(given, "weight", "indices", 0, given.tensor("indices").sizes);
}

Run embedding_dense_backward(const Given& given) {
  const Tensor &grad = given.tensor("grad"), &indices = given.tensor("indices");
  const int64_t rows = given.integer("numWeights"), padding = given.integer("paddingIdx");
  const bool scaled = given.integer("scaleGradByFreq") != 0;
  require_index_type(given, "indices");
  require(grad.rank() > 0, "rank-differs"_rule, "grad has rank 0; expected 1 or more");
  const int64_t columns = grad.sizes.back();
  Sizes sizes(indices.sizes.begin(), indices.sizes.end());
  sizes.push_back(columns);
  given.require_shape("grad", sizes);
  given.require_shape("out", Dims{rows, columns});
  return in_type(is_whole(grad) && !scaled, [=, shape = indices.sizes](const Arrays& arrays,
                                                                       auto zero) {
    using T = decltype(zero);
    const Sizes index = read_indices(arrays, "indices", shape, rows);
    const std::vector<T> grads = arrays.read<T>("grad");
    std::vector<T> sums(static_cast<size_t>(rows * columns));
    Sizes counts(static_cast<size_t>(rows));
    const T* next = grads.data();
    for (int64_t row : index) {
      ++counts[static_cast<size_t>(row)];
      for (int64_t i = 0; i < columns; ++i, ++next) {
        T& sum = sums[static_cast<size_t>(row * columns + i)];
        if (row != padding) sum = plus(sum, *next);
      }
    }
    if (scaled)
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] /= static_cast<T>(std::max<int64_t>(counts[i / static_cast<size_t>(columns)], 1));
    arrays.write("out", sums);
  });
}

Run index_add(const Given& given) {
  const Tensor &self = given.tensor("self"), &source = given.tensor("source");
  const size_t dim = given.dim("dim", self);
  const int64_t count = line_of_indices(given);
  const Scalar alpha = given.scalar("alpha");
  given.real("alpha");
  require_slices(given, "source", dim, count);
  given.require_shape("out", self.sizes);
  const bool whole = is_whole(self) && is_whole(source) && !is_floating(alpha.dtype);
  return in_type(whole, [=, view = packed(self)](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const Sizes index = read_indices(arrays, "index", Dims{count}, view.sizes[dim]);
    std::vector<T> values = arrays.read<T>("self");
    const std::vector<T> sources = arrays.read<T>("source");
    const Sizes positions = slices(view, dim, index);
    for (size_t i = 0; i < positions.size(); ++i) {
      T& value = values[static_cast<size_t>(positions[i])];
      value = plus(value, times(number_from<T>(alpha), sources[i]));
    }
    arrays.write("out", values);
  });
}

Run scatter(const Given& given) { return scatter_elements(given, given.integer("reduce"), "src"); }
Run scatter_add(const Given& given) { return scatter_elements(given, kByAdding, "src"); }
Run inplace_scatter_value(const Given& given) {
  return scatter_elements(given, given.integer("reduce"), "value");
}

Run inplace_index_copy(const Given& given) {
  const Tensor &self = given.tensor("self"), &source = given.tensor("source");
  const size_t dim = given.dim("dim", self);
  const int64_t count = line_of_indices(given);
  require_slices(given, "source", dim, count);
  return in_type(is_whole(source), [=, view = view_of(self)](const Arrays& arrays, auto zero) {
    const Sizes index = read_indices(arrays, "index", Dims{count}, view.sizes[dim]);
    put(arrays.view("self"), slices(view, dim, index), arrays.read<decltype(zero)>("source"));
  });
}

Run inplace_index_fill(const Given& given) {
  const int64_t count = line_of_indices(given);
  return fill_slices(given, [count](const Arrays& arrays, int64_t limit) {
    return read_indices(arrays, "index", Dims{count}, limit);
  });
}

Run inplace_index_fill_tensor(const Given& given) {
  const IntArray index = given.ints("index");
  return fill_slices(given, [index](const Arrays&, int64_t limit) {
    for (size_t i = 0; i < index.size(); ++i)
      checked_index("index", index[i], limit, false, {static_cast<int64_t>(index.size())},
                    static_cast<int64_t>(i));
    return Sizes(index.begin(), index.end());
  });
}

Run one_hot(const Given& given) {
  const Tensor& self = given.tensor("self");
  const int64_t classes = given.integer("numClasses");
  const auto rank = static_cast<int64_t>(self.rank());
  int64_t axis = given.integer("axis");
  require_index_type(given, "self");
  require(-1 <= axis && axis <= rank, "dim-range"_rule, "axis is ", axis, "; expected -1 to ",
          rank);
  if (axis < 0) axis = rank;
  require_elements(given, "onValue", 1);
  require_elements(given, "offValue", 1);
  Sizes sizes(self.sizes.begin(), self.sizes.end());
  sizes.insert(sizes.begin() + axis, classes);
  given.require_shape("out", sizes);
  Tensor view = packed(given.tensor("out"));
  const bool whole = is_whole(given.tensor("onValue")) && is_whole(given.tensor("offValue"));
  // Each element of self is one of the output's slice in which the axis is 0.
  Sizes firsts;
  {
    Tensor slice = view;
    slice.sizes[static_cast<size_t>(axis)] = 1;
    if (classes > 0) firsts = grid(slice.sizes, slice.strides);
  }
  return in_type(whole, [=, stride = view.strides[static_cast<size_t>(axis)], shape = self.sizes](
                            const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const Sizes index = read_indices(arrays, "self", shape, classes);
    const T on = arrays.read<T>("onValue")[0], off = arrays.read<T>("offValue")[0];
    std::vector<T> values(static_cast<size_t>(view.numel()), off);
    for (size_t i = 0; i < index.size(); ++i)
      values[static_cast<size_t>(firsts[i] + index[i] * stride)] = on;
    arrays.write("out", values);
  });
}

}  // namespace softnpu::everyday
