// SPDX-License-Identifier: Apache-2.0
#include "described/operator.h"

#include <algorithm>
#include <string>

#include "described/rows.h"

namespace softnpu::described {
namespace {

// The bytes in which a tensor of INT4 has its elements.
Status find_bytes(const Tensor& tensor, Tensor& bytes) {
  Extent extent;
  RETURN_IF_FAILED(view_extent(tensor, extent));
  bytes = tensor;
  bytes.dtype = DType::u8;
  bytes.offset = extent.low >> 1;
  bytes.sizes = {(extent.high >> 1) - bytes.offset + 1};
  bytes.strides = {1};
  bytes.storage = {(checked_numel(tensor.storage).value() + 1) / 2};
  return {};
}

// Callers count the elements of the storage without the view's offset, ggml for example. The
// storage then ends where the view does, and only the memory is checked.
std::shared_ptr<Tensor> with_room_for_view(const Tensor& tensor) {
  Extent extent;
  if (!tensor.has_storage || !view_extent(tensor, extent).ok()) return nullptr;
  if (extent.high < checked_numel(tensor.storage).value()) return nullptr;
  auto larger = std::make_shared<Tensor>(tensor);
  larger->storage = {extent.high + 1};
  return larger;
}

// How descriptions name the kinds of parameters, in the order of Kind, and what reads each.
struct Readers {
  const char* kind;
  const char* names;
};
constexpr Readers kReaders[] = {
    {"tensor", "tensor()"},    {"scalar", "real() or scalar()"},
    {"int_array", "ints()"},   {"bool_array", "flag() of an element"},
    {"tensor_list", "list()"}, {"text", "text()"},
    {"int", "integer()"},      {"float or double", "number()"},
    {"bool", "flag()"},        {"dtype", "dtype()"},
};

// An object that somebody else keeps alive.
std::shared_ptr<const void> borrowed(const void* object) {
  return {std::shared_ptr<const void>(), object};
}

}  // namespace

Given::Given(const Operator& op, std::span<const Value> values)
    : op_(&op), values_(values.begin(), values.end()), objects_(values.size()) {
  for (size_t i = 0; i < values_.size(); ++i) {
    first_.push_back(operands_.size());
    look_up(i);
  }
}

Given::Given(const Operator& op, std::span<const Value> values, std::span<const void* const> named)
    : op_(&op), values_(values.begin(), values.end()), objects_(values.size()) {
  for (size_t i = 0; i < values_.size(); ++i) {
    first_.push_back(operands_.size());
    objects_[i] = borrowed(values_[i].handle);
    if (op.parameters[i].kind == Kind::tensor)
      add_operand(i, static_cast<const Tensor*>(values_[i].handle), named[i]);
  }
}

void Given::look_up(size_t i) {
  const void* const handle = values_[i].handle;
  const Parameter& parameter = op_->parameters[i];
  if (handle == nullptr || !is_handle(parameter.kind)) return;
  const auto find = [&](auto& table) {
    objects_[i] = table.find(handle);
    if (objects_[i] == nullptr && status_.ok())
      status_ = not_found(parameter.name, handle, std::decay_t<decltype(table)>::kKind);
  };
  switch (parameter.kind) {
    case Kind::tensor:
      find(tensors());
      add_operand(i, static_cast<const Tensor*>(object(i)), handle);
      break;
    case Kind::scalar:
      find(scalars());
      break;
    case Kind::int_array:
      find(int_arrays());
      break;
    case Kind::bool_array:
      find(bool_arrays());
      break;
    default:
      find(tensor_lists());
      if (objects_[i] != nullptr) look_up_list(i);
  }
}

void Given::look_up_list(size_t i) {
  for (const void* member : static_cast<const TensorList*>(object(i))->members) {
    auto tensor = member == nullptr ? nullptr : tensors().find(member);
    if (member != nullptr && tensor == nullptr && status_.ok())
      status_ = not_found(op_->parameters[i].name, member, HandleKind::tensor);
    add_operand(i, tensor.get(), member);
    members_.push_back(std::move(tensor));
  }
}

void Given::add_operand(size_t i, const Tensor* tensor, const void* handle) {
  if (tensor == nullptr) return;
  if (tensor->dtype == DType::i4 && op_->parameters[i].may_be_int4) {
    auto bytes = std::make_shared<Tensor>();
    if (Status found = find_bytes(*tensor, *bytes); !found.ok() && status_.ok())
      status_ = std::move(found);
    tensor = bytes.get();
    members_.push_back(std::move(bytes));
  }
  auto larger = op_->traits.everyday ? with_room_for_view(*tensor) : nullptr;
  if (larger != nullptr) {
    tensor = larger.get();
    members_.push_back(std::move(larger));
  }
  operands_.push_back({op_->parameters[i].name, {tensor, handle}, op_->parameters[i].use});
}

size_t Given::index(std::string_view name) const {
  for (size_t i = 0; i < op_->parameters.size(); ++i)
    if (op_->parameters[i].name == name) return i;
  std::string names;
  for (const Parameter& each : op_->parameters)
    names += softnpu::text(names.empty() ? "" : ", ", each.name);
  require_of_source(false, op_->traits.name, " has no parameter ", name, "; it has ", names);
  return 0;
}

size_t Given::index(std::string_view name, std::string_view reader,
                    std::span<const Kind> kinds) const {
  const size_t i = index(name);
  const Kind kind = op_->parameters[i].kind;
  const auto [word, readers] = kReaders[static_cast<size_t>(kind)];
  require_of_source(std::ranges::find(kinds, kind) != kinds.end(), name, " is of kind ", word,
                    ", which ", readers, " reads, not ", reader);
  return i;
}

const void* Given::object(std::string_view name, std::string_view reader, Kind kind) const {
  const void* const found = object(index(name, reader, {&kind, 1}));
  require_of_source(found != nullptr, name, " is null; ask has() before ", reader);
  return found;
}

const Tensor& Given::tensor(std::string_view name) const {
  return *static_cast<const Tensor*>(object(name, "tensor()", Kind::tensor));
}

const Scalar& Given::scalar(std::string_view name) const {
  return *static_cast<const Scalar*>(object(name, "scalar()", Kind::scalar));
}

int64_t Given::integer(std::string_view name) const {
  constexpr Kind kKinds[] = {Kind::integer, Kind::flag, Kind::dtype};
  return values_[index(name, "integer()", kKinds)].integer;
}

double Given::number(std::string_view name) const {
  constexpr Kind kKinds[] = {Kind::number};
  return values_[index(name, "number()", kKinds)].number;
}

bool Given::flag(std::string_view name) const {
  constexpr Kind kKinds[] = {Kind::flag};
  return values_[index(name, "flag()", kKinds)].integer != 0;
}

double Given::real(std::string_view name) const {
  const Scalar& given = scalar(name);
  require(is_real(given.dtype), "scalar-type"_rule, name, " has data type ", given.dtype,
          "; expected a real number");
  return number_from<double>(given);
}

const IntArray& Given::ints(std::string_view name) const {
  return *static_cast<const IntArray*>(object(name, "ints()", Kind::int_array));
}

bool Given::flag(std::string_view name, size_t i) const {
  const auto& flags =
      *static_cast<const BoolArray*>(object(name, "flag() of an element", Kind::bool_array));
  require(i < flags.size(), "array-length"_rule, name, " has ", flags.size(),
          " elements; expected more than ", i);
  return flags[i] != 0;
}

std::vector<const Tensor*> Given::list(std::string_view name) const {
  const size_t parameter = index(name);
  const auto& members =
      static_cast<const TensorList*>(object(name, "list()", Kind::tensor_list))->members;
  std::vector<const Tensor*> found;
  size_t next = first_[parameter];
  for (const void* member : members)
    found.push_back(member == nullptr ? nullptr : operands_[next++].arg.tensor);
  return found;
}

namespace {

size_t wrapped(std::string_view name, int64_t dim, const Tensor& tensor) {
  const auto rank = static_cast<int64_t>(std::max<size_t>(tensor.rank(), 1));
  require(-rank <= dim && dim < rank, "dim-range"_rule, name, " is ", dim, "; expected ", -rank,
          " to ", rank - 1, " for shape ", tensor.sizes);
  return static_cast<size_t>(dim < 0 ? dim + rank : dim);
}

}  // namespace

size_t Given::dim(std::string_view name, const Tensor& tensor) const {
  return wrapped(name, integer(name), tensor);
}

std::vector<bool> Given::dims(std::string_view name, const Tensor& tensor) const {
  const size_t rank = std::max<size_t>(tensor.rank(), 1);
  if (!has(name) || ints(name).empty()) return std::vector<bool>(rank, true);
  std::vector<bool> chosen(rank);
  for (int64_t each : ints(name)) {
    const size_t dim = wrapped(name, each, tensor);
    require(!chosen[dim], "dim-repeated"_rule, name, " is ", ints(name), ", which has dimension ",
            dim, " twice");
    chosen[dim] = true;
  }
  return chosen;
}

void Given::require_shape(std::string_view name, std::span<const int64_t> sizes) const {
  const Dims& given = tensor(name).sizes;
  // A result without dimensions may be in a tensor of one element.
  if (sizes.empty() && given == Dims{1}) return;
  require(std::ranges::equal(std::span<const int64_t>(given), sizes), "shape-differs"_rule, name,
          " has shape ", given, "; expected ", Dims(sizes));
}

Status Given::null_status() const {
  for (size_t i = 0; i < values_.size(); ++i) {
    const Parameter& parameter = op_->parameters[i];
    if (is_pointer(parameter.kind) && !parameter.optional && values_[i].handle == nullptr)
      return fail("argument-null"_rule, kParamNullptr, parameter.name, " is null");
  }
  return {};
}

}  // namespace softnpu::described
