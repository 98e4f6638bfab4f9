// SPDX-License-Identifier: Apache-2.0
// Elements of a tensor by their offsets from its first.
#pragma once

#include <algorithm>
#include <span>

#include "everyday/views.h"

namespace softnpu::everyday {

// Those of all elements of a tensor of these sizes and strides, in row-major order.
inline Sizes grid(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  Sizes offsets{0};
  if (std::ranges::count(sizes, 0) > 0) return {};
  for (size_t d = 0; d < sizes.size(); ++d) {
    Sizes next;
    next.reserve(offsets.size() * static_cast<size_t>(sizes[d]));
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(offset + i * strides[d]);
    offsets = std::move(next);
  }
  return offsets;
}

// Each of `outer` with each of `inner`.
inline Sizes sums(const Sizes& outer, const Sizes& inner) {
  Sizes offsets;
  offsets.reserve(outer.size() * inner.size());
  for (int64_t a : outer)
    for (int64_t b : inner) offsets.push_back(a + b);
  return offsets;
}

// Whole slices: [i.., index[k], j..] for all i, k, j.
inline Sizes slices(const Tensor& view, size_t dim, Sizes index) {
  const std::span<const int64_t> sizes = view.sizes, strides = view.strides;
  if (index.empty() || view.numel() == 0) return {};
  for (int64_t& each : index) each *= strides[dim];
  return sums(sums(grid(sizes.first(dim), strides.first(dim)), index),
              grid(sizes.subspan(dim + 1), strides.subspan(dim + 1)));
}

// Single elements: [i.., index[i.., k, j..], j..] for all i, k, j of an index of these sizes.
inline Sizes elements(const Tensor& view, size_t dim, const Dims& sizes, const Sizes& index) {
  Dims strides = view.strides;
  strides[dim] = 0;
  Sizes offsets = grid(sizes, strides);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] += index[i] * view.strides[dim];
  return offsets;
}

// The tensor as a vector that all its elements were read to.
inline Tensor packed(const Tensor& tensor) {
  Tensor view = view_of(tensor);
  view.strides = contiguous_strides(view.sizes);
  return view;
}

// Calls f(i, n) for n consecutive offsets from the i-th on.
template <class F>
void for_each_run(const Sizes& offsets, F&& f) {
  for (size_t i = 0, n = 1; i < offsets.size(); i += n, n = 1) {
    while (i + n < offsets.size() && offsets[i + n] == offsets[i + n - 1] + 1) ++n;
    f(i, n);
  }
}

template <class T>
std::vector<T> pick(const View& view, const Sizes& offsets) {
  std::vector<T> values(offsets.size());
  const int64_t bytes = item_size(view.tensor->dtype);
  for_each_run(offsets, [&, load = loader<T>(view.tensor->dtype)](size_t i, size_t n) {
    load(view.first + offsets[i] * bytes, 1, static_cast<int64_t>(n), &values[i]);
  });
  return values;
}

// Of values for the same element, the last one stays.
template <class T>
void put(const View& view, const Sizes& offsets, const std::vector<T>& values) {
  const int64_t bytes = item_size(view.tensor->dtype);
  for_each_run(offsets, [&, store = storer<T>(view.tensor->dtype)](size_t i, size_t n) {
    store(&values[i], static_cast<int64_t>(n), 1, view.first + offsets[i] * bytes);
  });
}

}  // namespace softnpu::everyday
