// SPDX-License-Identifier: Apache-2.0
// self[indices], where each index is a tensor or a whole dimension, and elements by a mask.
#include "everyday/offsets.h"

namespace softnpu::everyday {
namespace {

// The elements of self that a list of indices selects. Indexed dimensions that are not adjacent
// come first in the result.
struct Selection {
  struct Index {
    size_t member;  // of the list, absent ones not counted
    std::string name;
    int64_t size, stride;
  };
  std::vector<Index> indices;
  Dims shape;  // to which the indices are broadcast
  Sizes before, before_strides, after, after_strides;

  Sizes sizes() const {
    Sizes all = before;
    all.insert(all.end(), shape.begin(), shape.end());
    all.insert(all.end(), after.begin(), after.end());
    return all;
  }

  Sizes offsets(const Arrays& arrays) const {
    Sizes index(static_cast<size_t>(checked_numel(shape).value_or(0)));
    for (const Index& each : indices) {
      const Sizes values = described::read<int64_t>(arrays.member("indices", each.member), shape);
      for (size_t i = 0; i < index.size(); ++i)
        index[i] += each.stride * checked_index(each.name, values[i], each.size, true, shape,
                                                static_cast<int64_t>(i));
    }
    if (std::ranges::count(sizes(), 0) > 0) return {};
    return sums(sums(grid(before, before_strides), index), grid(after, after_strides));
  }
};

// An index by which a dimension stays whole: null, or of shape [0].
bool is_whole_dim(const Tensor* index) { return index == nullptr || index->sizes == Dims{0}; }

Selection select(const Given& given, const Tensor& view) {
  const auto list = given.list("indices");
  const Tensor& self = given.tensor("self");
  require(list.size() <= self.rank(), "list-length"_rule, "indices has ", list.size(),
          " members; expected at most ", self.rank(), ", the rank of self");
  Selection selection;
  bool adjacent = true;
  size_t member = 0, last = 0;
  for (size_t d = 0; d < list.size(); member += list[d++] != nullptr) {
    if (is_whole_dim(list[d])) continue;
    const Tensor& index = *list[d];
    require(is_integer(index.dtype), "dtype-unsupported"_rule, "indices[", d, "] has data type ",
            index.dtype, "; expected an integer type");
    const auto shape = broadcast_sizes(selection.shape, index.sizes);
    require(shape.has_value(), "broadcast"_rule, "indices[", d, "] has shape ", index.sizes,
            ", which cannot be broadcast with ", selection.shape);
    selection.shape = *shape;
    adjacent = adjacent && (selection.indices.empty() || last + 1 == d);
    last = d;
    selection.indices.push_back({member, text("indices[", d, "]"), view.sizes[d], view.strides[d]});
  }
  for (size_t d = 0, seen = 0; d < self.rank(); ++d) {
    if (d < list.size() && !is_whole_dim(list[d])) {
      ++seen;
      continue;
    }
    const bool comes_before = adjacent && seen == 0 && !selection.indices.empty();
    (comes_before ? selection.before : selection.after).push_back(view.sizes[d]);
    (comes_before ? selection.before_strides : selection.after_strides).push_back(view.strides[d]);
  }
  return selection;
}

}  // namespace

Run index(const Given& given) {
  const Tensor& self = given.tensor("self");
  const Selection selection = select(given, view_of(self));
  given.require_shape("out", selection.sizes());
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    arrays.write("out", pick<decltype(zero)>(arrays.view("self"), selection.offsets(arrays)));
  });
}

// Indices are checked even if `unsafe` is true.
Run index_put_impl(const Given& given) {
  const Tensor &self = given.tensor("self"), &values = given.tensor("values");
  const bool accumulate = given.integer("accumulate") != 0;
  const Selection selection = select(given, accumulate ? packed(self) : view_of(self));
  const Dims sizes(selection.sizes());
  require(broadcast_sizes(values.sizes, sizes) == sizes, "broadcast"_rule, "values has shape ",
          values.sizes, ", which cannot be broadcast to ", sizes);
  const bool whole = is_whole(values) && (is_whole(self) || !accumulate);
  return in_type(whole, [=](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    const Sizes offsets = selection.offsets(arrays);
    const std::vector<T> added = arrays.read<T>("values", sizes);
    if (!accumulate) return put(arrays.view("self"), offsets, added);
    std::vector<T> sums = arrays.read<T>("self");
    for (size_t i = 0; i < offsets.size(); ++i) {
      T& sum = sums[static_cast<size_t>(offsets[i])];
      sum = plus(sum, added[i]);
    }
    arrays.write("self", sums);
  });
}

Run inplace_masked_scatter(const Given& given) {
  const Tensor &self = given.tensor("self"), &mask = given.tensor("mask");
  const Tensor& source = given.tensor("source");
  require_mask_type(given, "mask");
  require(broadcast_sizes(self.sizes, mask.sizes) == self.sizes, "broadcast"_rule,
          "mask has shape ", mask.sizes, ", which cannot be broadcast to ", self.sizes);
  return in_type(is_whole(source), [=, view = view_of(self), sizes = self.sizes](
                                       const Arrays& arrays, auto zero) {
    auto values = arrays.read<decltype(zero)>("source");
    const Sizes chosen = arrays.read<int64_t>("mask", sizes), all = grid(view.sizes, view.strides);
    Sizes offsets;
    for (size_t i = 0; i < all.size(); ++i)
      if (chosen[i] != 0) offsets.push_back(all[i]);
    if (offsets.size() > values.size())
      throw Failure{fail("source-short"_rule, kRuntimeError, "source has ", values.size(),
                         " elements; expected ", offsets.size(), ", one for each true of mask")};
    values.resize(offsets.size());
    put(arrays.view("self"), offsets, values);
  });
}

}  // namespace softnpu::everyday
