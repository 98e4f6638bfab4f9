// SPDX-License-Identifier: Apache-2.0
#include "described/arrays.h"

namespace softnpu::described {

template <class T>
std::vector<T> read(const View& view, const Dims& sizes) {
  const Walk walk(sizes, {view.tensor});
  const int64_t bytes = item_size(view.tensor->dtype), n = walk.row_length();
  const auto load = loader<T>(view.tensor->dtype);
  std::vector<T> values(static_cast<size_t>(checked_numel(sizes).value()));
  T* next = values.data();
  walk.for_each_row([&](const std::vector<int64_t>& offsets) {
    load(view.first + offsets[0] * bytes, walk.row_stride(0), n, next);
    next += n;
  });
  return values;
}

template <class T>
void write(const View& view, const T* values) {
  const Walk walk(view.tensor->sizes, {view.tensor});
  const int64_t bytes = item_size(view.tensor->dtype), n = walk.row_length();
  const auto store = storer<T>(view.tensor->dtype);
  walk.for_each_row([&](const std::vector<int64_t>& offsets) {
    store(values, n, walk.row_stride(0), view.first + offsets[0] * bytes);
    values += n;
  });
}

template SOFTNPU_EXPORT std::vector<double> read<double>(const View&, const Dims&);
template SOFTNPU_EXPORT std::vector<int64_t> read<int64_t>(const View&, const Dims&);
template SOFTNPU_EXPORT void write<double>(const View&, const double*);
template SOFTNPU_EXPORT void write<int64_t>(const View&, const int64_t*);

View Arrays::member(std::string_view name, size_t i) const {
  const size_t operand = given_.first_operand(given_.index(name)) + i;
  return {given_.operands()[operand].arg.tensor, origins_[operand]};
}

template <class T>
void Arrays::write_resized(std::string_view name, const std::vector<T>& values,
                           const Dims& sizes) const {
  const size_t operand = given_.first_operand(given_.index(name));
  const TensorArg& arg = given_.operands()[operand].arg;
  auto written = std::make_shared<Tensor>(*arg.tensor);
  written->sizes = sizes;
  written->strides = contiguous_strides(sizes);
  described::write(View{written.get(), origins_[operand]}, values.data());
  tensors().replace(arg.handle, std::move(written));
}

template SOFTNPU_EXPORT void Arrays::write_resized(std::string_view, const std::vector<double>&,
                                                   const Dims&) const;
template SOFTNPU_EXPORT void Arrays::write_resized(std::string_view, const std::vector<int64_t>&,
                                                   const Dims&) const;

}  // namespace softnpu::described
