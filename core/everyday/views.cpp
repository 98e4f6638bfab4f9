// SPDX-License-Identifier: Apache-2.0
#include "everyday/views.h"

#include <algorithm>

namespace softnpu::everyday {

std::string_view input(const Given& given) { return given.op().parameters[0].name; }

std::string_view output(const Given& given) {
  std::string_view name;
  for (const Parameter& parameter : given.op().parameters)
    if (writes(parameter.use)) name = parameter.name;
  return name;
}

Tensor view_of(const Tensor& tensor) {
  Tensor view = tensor;
  view.offset = 0;
  if (view.rank() == 0) view.sizes = view.strides = Dims{1};
  return view;
}

void narrow(Tensor& view, size_t dim, int64_t start, int64_t size, int64_t step) {
  view.offset += start * view.strides[dim];
  view.sizes[dim] = size;
  view.strides[dim] *= step;
}

Tensor reordered(const Tensor& view, const std::vector<size_t>& order) {
  Tensor result = view;
  for (size_t d = 0; d < order.size(); ++d) {
    result.sizes[d] = view.sizes[order[d]];
    result.strides[d] = view.strides[order[d]];
  }
  return result;
}

View at(const View& base, const Tensor& view) {
  if (view.numel() == 0) return {&view, base.first};
  return {&view, base.first + view.offset * item_size(view.dtype)};
}

void copy(const View& from, const Dims& sizes, const View& to) {
  if (is_whole(*from.tensor))
    described::write(to, described::read<int64_t>(from, sizes).data());
  else
    described::write(to, described::read<double>(from, sizes).data());
}

Rows rows_of(const Tensor& tensor, const std::vector<bool>& along) {
  const Tensor view = view_of(tensor);
  std::vector<size_t> order;
  for (bool last : {false, true})
    for (size_t d = 0; d < along.size(); ++d)
      if (along[d] == last) order.push_back(d);
  Rows rows{reordered(view, order)};
  for (size_t d = 0; d < along.size(); ++d) (along[d] ? rows.length : rows.count) *= view.sizes[d];
  return rows;
}

Rows rows_of(const Tensor& tensor, size_t dim) {
  std::vector<bool> along(std::max<size_t>(tensor.rank(), 1));
  along[dim] = true;
  return rows_of(tensor, along);
}

void require_index_type(const Given& given, std::string_view name) {
  const DType type = given.tensor(name).dtype;
  require(is_integer(type), "dtype-unsupported"_rule, name, " has data type ", type,
          "; expected an integer type");
}

void require_mask_type(const Given& given, std::string_view name) {
  const DType type = given.tensor(name).dtype;
  require(!is_floating(type), "dtype-unsupported"_rule, name, " has data type ", type,
          "; expected BOOL or an integer type");
}

void require_length(const Given& given, std::string_view name, size_t length) {
  require(given.ints(name).size() == length, "array-length"_rule, name, " has ",
          given.ints(name).size(), " elements; expected ", length);
}

void require_elements(const Given& given, std::string_view name, int64_t count) {
  const Dims& sizes = given.tensor(name).sizes;
  require(given.tensor(name).numel() == count, "element-count"_rule, name, " has shape ", sizes,
          "; expected ", count, count == 1 ? " element" : " elements");
}

void require_room(std::string_view name, int64_t needed, int64_t room) {
  if (needed <= room) return;
  throw Failure{fail("output-room"_rule, kRuntimeError, name, " has room for ", room,
                     "; the result has ", needed)};
}

void require_range(bool condition, std::string_view name, double value, const char* expected) {
  require(condition, "number-range"_rule, name, " is ", value, "; expected ", expected);
}

int64_t checked_index(std::string_view name, int64_t value, int64_t limit, bool wraps,
                      const Dims& sizes, int64_t position) {
  const int64_t least = wraps ? -limit : 0;
  if (least <= value && value < limit) [[likely]]
    return value < 0 ? value + limit : value;
  Dims where(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; position /= sizes[d]) where[d] = position % sizes[d];
  throw Failure{Status(
      kRuntimeError,
      text(name, where, " is ", value, "; expected ", least, " or more and less than ", limit),
      "index-out-of-range"_rule, Cause::index)};
}

Sizes read_indices(const Arrays& arrays, std::string_view name, const Dims& sizes, int64_t limit,
                   bool wraps) {
  const View view = arrays.view(name);
  Sizes values = described::read<int64_t>(view, sizes);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = checked_index(name, values[i], limit, wraps, sizes, static_cast<int64_t>(i));
  return values;
}

}  // namespace softnpu::everyday
