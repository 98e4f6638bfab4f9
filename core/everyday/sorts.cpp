// SPDX-License-Identifier: Apache-2.0
// Along one dimension: running sums, orders. And operators that select elements in memory's order,
// whose output has a size that only the kernel knows.
#include <algorithm>
#include <numeric>

#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

// NaN is the largest number.
template <class T>
bool below(T a, T b) {
  return a < b || (b != b && a == a);
}

// The positions of n elements in ascending or descending order; equal ones stay in order.
template <class T>
void order(const T* row, bool descending, Sizes& positions) {
  std::iota(positions.begin(), positions.end(), 0);
  std::ranges::stable_sort(positions, [&](int64_t i, int64_t j) {
    return descending ? below(row[j], row[i]) : below(row[i], row[j]);
  });
}

// Along `dim`, `count` elements from `first` on in their order, and their positions.
struct Ordered {
  bool descending;
  int64_t first, count;
  const char* values;  // null: the operator has none
};

Run ordered(const Given& given, const Ordered& wanted, bool keep = true) {
  const Tensor& self = given.tensor("self");
  const size_t dim = given.dim("dim", self);
  const Rows rows = rows_of(self, dim);
  Sizes sizes(self.sizes.begin(), self.sizes.end());
  if (!sizes.empty()) sizes[dim] = wanted.count;
  if (!sizes.empty() && !keep) sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(dim));
  if (wanted.values != nullptr) given.require_shape(wanted.values, sizes);
  given.require_shape("indices", sizes);
  const auto rows_in = [&](const char* name) {
    const Tensor& out = given.tensor(name);
    return keep ? rows_of(out, dim) : Rows{view_of(out)};
  };
  const Rows indices = rows_in("indices");
  const Rows values = wanted.values == nullptr ? indices : rows_in(wanted.values);
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const std::vector<T> elements = read<T>(arrays, "self", rows);
    Sizes positions(static_cast<size_t>(rows.length)), chosen;
    std::vector<T> found;
    for (int64_t i = 0; i < rows.count && !elements.empty(); ++i) {
      const T* const row = elements.data() + i * rows.length;
      order(row, wanted.descending, positions);
      for (int64_t j = wanted.first; j < wanted.first + wanted.count; ++j) {
        chosen.push_back(positions[static_cast<size_t>(j)]);
        found.push_back(row[chosen.back()]);
      }
    }
    if (wanted.values != nullptr) write(arrays, wanted.values, values, found);
    write(arrays, "indices", indices, chosen);
  });
}

int64_t length_of_dim(const Given& given) {
  return rows_of(given.tensor("self"), given.dim("dim", given.tensor("self"))).length;
}

// k, which counts elements along `dim`.
int64_t checked_k(const Given& given, int64_t least) {
  const int64_t k = given.integer("k"), length = length_of_dim(given);
  require(least <= k && k <= length, "k-range"_rule, "k is ", k, "; expected ", least, " to ",
          length, ", the size of dim ", given.integer("dim"));
  return k;
}

void require_contiguous(const Given& given, std::string_view name) {
  const Tensor& tensor = given.tensor(name);
  require(is_contiguous(tensor), "resized-contiguous"_rule, name, " has strides ", tensor.strides,
          "; expected a contiguous tensor, whose size the operator sets");
}

}  // namespace

Run cumsum(const Given& given) {
  const Tensor &self = given.tensor("self"), &out = given.tensor("out");
  const size_t dim = given.dim("dim", self);
  const DType type = given.dtype("dtype");
  require(is_real(type), "dtype-unsupported"_rule, "dtype is ", type, ", which is not supported");
  given.require_shape("out", self.sizes);
  const Rows from = rows_of(self, dim), to = rows_of(out, dim);
  return in_type(!is_floating(type), [=](const Arrays& arrays, auto zero) {
    auto values = read<decltype(zero)>(arrays, "self", from);
    for (size_t i = 1; i < values.size(); ++i)
      if (i % static_cast<size_t>(from.length) != 0) values[i] = plus(values[i - 1], values[i]);
    write(arrays, "out", to, values);
  });
}

Run sort(const Given& given) {
  return ordered(given, {given.integer("descending") != 0, 0, length_of_dim(given), "values"});
}

Run argsort(const Given& given) {
  return ordered(given, {given.integer("descending") != 0, 0, length_of_dim(given), nullptr});
}

Run topk(const Given& given) {
  return ordered(given, {given.integer("largest") != 0, 0, checked_k(given, 0), "values"});
}

Run kthvalue(const Given& given) {
  const bool keep = given.integer("keepDim") != 0;
  return ordered(given, {false, checked_k(given, 1) - 1, 1, "values"}, keep);
}

Run unique2(const Given& given) {
  const Tensor& self = given.tensor("self");
  const bool inverse = given.integer("returnInverse") != 0;
  const bool counts = given.integer("returnCounts") != 0;
  require_contiguous(given, "valueOut");
  if (inverse) given.require_shape("inverseOut", self.sizes);
  if (counts) require_contiguous(given, "countsOut");
  const int64_t room = given.tensor("valueOut").numel();
  const int64_t count_room = given.tensor("countsOut").numel();
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const std::vector<T> elements = arrays.read<T>("self");
    Sizes positions(elements.size()), inverses(elements.size()), repeats;
    order(elements.data(), false, positions);
    std::vector<T> values;
    for (int64_t position : positions) {
      const auto i = static_cast<size_t>(position);
      if (values.empty() || elements[i] != values.back()) {  // NaN differs from itself
        values.push_back(elements[i]);
        repeats.push_back(0);
      }
      ++repeats.back();
      inverses[i] = static_cast<int64_t>(values.size()) - 1;
    }
    const auto size = static_cast<int64_t>(values.size());
    require_room("valueOut", size, room);
    if (counts) require_room("countsOut", size, count_room);
    arrays.write_resized("valueOut", values, {size});
    if (inverse) arrays.write("inverseOut", inverses);
    if (counts) arrays.write_resized("countsOut", repeats, {size});
  });
}

Run masked_select(const Given& given) {
  const Tensor &self = given.tensor("self"), &mask = given.tensor("mask");
  require_mask_type(given, "mask");
  const auto sizes = broadcast_sizes(self.sizes, mask.sizes);
  require(sizes.has_value(), "broadcast"_rule, "mask has shape ", mask.sizes,
          ", which cannot be broadcast with ", self.sizes);
  require_contiguous(given, "out");
  const int64_t room = given.tensor("out").numel();
  return in_type(is_whole(self), [sizes = *sizes, room](const Arrays& arrays, auto zero) {
    auto values = arrays.read<decltype(zero)>("self", sizes);
    const Sizes chosen = arrays.read<int64_t>("mask", sizes);
    size_t count = 0;
    for (size_t i = 0; i < values.size(); ++i)
      if (chosen[i] != 0) values[count++] = values[i];
    values.resize(count);
    require_room("out", static_cast<int64_t>(count), room);
    arrays.write_resized("out", values, {static_cast<int64_t>(count)});
  });
}

Run nonzero(const Given& given) {
  const Tensor &self = given.tensor("self"), &out = given.tensor("out");
  const auto rank = static_cast<int64_t>(self.rank());
  require(out.rank() == 2 && out.sizes[1] == rank, "shape-differs"_rule, "out has shape ",
          out.sizes, "; expected [", self.numel(), ", ", rank, "]");
  require_contiguous(given, "out");
  return in_type(is_whole(self),
                 [rank, sizes = self.sizes, room = out.sizes[0]](const Arrays& arrays, auto zero) {
                   const auto values = arrays.read<decltype(zero)>("self");
                   Sizes found;
                   int64_t count = 0;
                   for (size_t i = 0; i < values.size(); ++i) {
                     if (values[i] == 0) continue;
                     ++count;
                     Dims at(sizes.size());
                     auto rest = static_cast<int64_t>(i);
                     for (size_t d = at.size(); d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
                     found.insert(found.end(), at.begin(), at.end());
                   }
                   require_room("out", count, room);
                   arrays.write_resized("out", found, {count, rank});
                 });
}

}  // namespace softnpu::everyday
