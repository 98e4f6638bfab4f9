// SPDX-License-Identifier: Apache-2.0
// Views of an operator's tensors with other dimensions, and the checks that everyday operators
// share.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "everyday/plans.h"

namespace softnpu::everyday {

// Whether its elements are computed as int64.
inline bool is_whole(const Tensor& tensor) { return !is_floating(tensor.dtype); }

// Calls compute(arrays, T()), where T is int64_t or double.
template <class Compute>
Run in_type(bool whole, Compute compute) {
  return [whole, compute = std::move(compute)](const Arrays& arrays) {
    if (whole)
      compute(arrays, int64_t());
    else
      compute(arrays, double());
  };
}

// Integers wrap.
inline double plus(double a, double b) { return a + b; }
inline int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline double times(double a, double b) { return a * b; }
inline int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

using Sizes = std::vector<int64_t>;

// The parameters that are read first and written last; of an in-place form they are the same.
std::string_view input(const Given& given);
std::string_view output(const Given& given);

// A view of a tensor's elements. Its `offset` counts from the tensor's first element, and it has
// one dimension at least.
Tensor view_of(const Tensor& tensor);
// `size` elements of a dimension, from `start`.
void narrow(Tensor& view, size_t dim, int64_t start, int64_t size, int64_t step = 1);
Tensor reordered(const Tensor& view, const std::vector<size_t>& order);
// Where a view of `base` lies. It refers to the view.
View at(const View& base, const Tensor& view);
// Reads everything before it writes.
void copy(const View& from, const Dims& sizes, const View& to);

// A tensor's elements in rows along some of its dimensions.
struct Rows {
  Tensor view;
  int64_t count = 1, length = 1;
};
Rows rows_of(const Tensor& tensor, const std::vector<bool>& along);
Rows rows_of(const Tensor& tensor, size_t dim);

template <class T>
std::vector<T> read(const Arrays& arrays, std::string_view name, const Rows& rows) {
  return described::read<T>(at(arrays.view(name), rows.view), rows.view.sizes);
}
template <class T>
void write(const Arrays& arrays, std::string_view name, const Rows& rows,
           const std::vector<T>& values) {
  described::write(at(arrays.view(name), rows.view), values.data());
}

void require_index_type(const Given& given, std::string_view name);
void require_mask_type(const Given& given, std::string_view name);
void require_length(const Given& given, std::string_view name, size_t length);
void require_elements(const Given& given, std::string_view name, int64_t count);
// That a size which only the kernel knows fits into what the caller gave.
void require_room(std::string_view name, int64_t needed, int64_t room);
void require_range(bool condition, std::string_view name, double value, const char* expected);

// Fails unless 0 <= value < limit, or -limit <= value if `wraps`; returns the value from 0 on.
// `position` is in row-major order.
int64_t checked_index(std::string_view name, int64_t value, int64_t limit, bool wraps,
                      const Dims& sizes, int64_t position);
// The elements of an index tensor, checked so.
Sizes read_indices(const Arrays& arrays, std::string_view name, const Dims& sizes, int64_t limit,
                   bool wraps = false);

}  // namespace softnpu::everyday
