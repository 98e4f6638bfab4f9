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
  const size_t found = given_.first_operand(given_.index(name)) + i;
  if (writes(given_.operands()[found].use)) has_written_ = true;
  return operand(found);
}

View Arrays::operand(size_t i) const { return {given_.operands()[i].arg.tensor, origins_[i]}; }

bool Arrays::has_room(std::string_view name, size_t size) const {
  const size_t i = given_.tensor_index(name, "write()");
  require_of_source(writes(given_.op().parameters[i].use), name,
                    " is an input, to which write() must not write");
  if (!given_.has(name)) return false;
  const auto elements = static_cast<size_t>(given_.tensor(name).numel());
  require_of_source(size == elements, name, " has ", elements, " elements, but write() got ", size);
  return true;
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
  has_written_ = true;
}

template SOFTNPU_EXPORT void Arrays::write_resized(std::string_view, const std::vector<double>&,
                                                   const Dims&) const;
template SOFTNPU_EXPORT void Arrays::write_resized(std::string_view, const std::vector<int64_t>&,
                                                   const Dims&) const;

}  // namespace softnpu::described
