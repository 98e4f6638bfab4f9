// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <algorithm>

#include "numbers.h"
#include "tensor/overlap.h"

namespace softnpu::python {
namespace {

// For messages about arguments that are not pointers in C, for which None is not special.
Status wrong_class(const char* name, nb::handle object, const char* expected) {
  return fail("argument-class"_rule, kParamInvalid, name, " is of class ", class_name(object),
              "; expected ", expected);
}

bool is_text(nb::handle object, const char* text) {
  return PyUnicode_CompareWithASCIIString(object.ptr(), text) == 0;
}

// The format with a documented name; undefined for other strings.
Format find_format(nb::handle name) {
  for (Format format :
       {Format::ncdhw, Format::ndhwc, Format::nd, Format::nchw, Format::nhwc, Format::hwcn,
        Format::nc, Format::ncl, Format::nc1hwc0, Format::ndc1hwc0, Format::nc1hwc0_c04,
        Format::fractal_z, Format::fractal_nz, Format::fractal_z_3d})
    if (is_text(name, to_text(format).c_str())) return format;
  return Format::undefined;
}

}  // namespace

TensorArg Arguments::input(const char* name, nb::handle object) {
  if (like_ == nullptr) like_ = object.ptr();
  if (object.is_none()) return {};
  Array& array = arrays_[count_++];
  keep(read_array(name, object.ptr(), Access::read, array));
  ran_code_ |= array.keeper.is_valid();
  return {&array.tensor, object.ptr()};
}

TensorArg Arguments::output(const char* name, nb::handle object) {
  out_ = object.ptr();
  Array& array = arrays_[0];
  if (!object.is_none()) {
    keep(read_array(name, object.ptr(), Access::write, array));
    ran_code_ |= array.keeper.is_valid();
  }
  return {&array.tensor, object.ptr()};
}

const Scalar* Arguments::scalar(const char* name, nb::handle object) {
  if (object.is_none()) return nullptr;
  Scalar& scalar = scalars_[scalar_count_++];
  keep(read_scalar(name, object.ptr(), scalar, ran_code_));
  return &scalar;
}

const IntArray* Arguments::int_array(const char* name, nb::handle object) {
  if (object.is_none()) return nullptr;
  IntArray& values = int_arrays_[int_array_count_++];
  keep(read_int_array(name, object.ptr(), values, ran_code_));
  return &values;
}

bool Arguments::flag(const char* name, nb::handle object) {
  bool value = false;
  if (!read_flag(object.ptr(), value, ran_code_)) keep(wrong_class(name, object, "a bool"));
  return value;
}

double Arguments::number(const char* name, nb::handle object) {
  if (PyFloat_CheckExact(object.ptr())) [[likely]]
    return PyFloat_AS_DOUBLE(object.ptr());
  Scalar scalar;
  Status status = read_scalar(name, object.ptr(), scalar, ran_code_);
  if (status.ok() && scalar.converts_to_float()) return to_double(scalar);
  keep(status.ok() ? wrong_class(name, object, "a real number") : std::move(status));
  return 0;
}

int64_t Arguments::integer(const char* name, nb::handle object) {
  int64_t value = 0;
  keep(read_integer(name, object.ptr(), value, ran_code_));
  return value;
}

int64_t Arguments::reduction(const char* name, nb::handle object) {
  int64_t value = 0;
  if (!PyUnicode_Check(object.ptr())) return integer(name, object);
  for (const char* text : {"none", "mean", "sum"}) {
    if (is_text(object, text)) return value;
    ++value;
  }
  keep(fail("reduction-name"_rule, kParamInvalid, name, " is \"", readable(object),
            "\"; expected \"none\" (0), \"mean\" (1) or \"sum\" (2)"));
  return 0;
}

void Arguments::format(const char* name, nb::handle object) {
  if (!PyUnicode_Check(object.ptr())) return keep(wrong_class(name, object, "a str"));
  const Format found = find_format(object);
  if (found == Format::undefined)
    return keep(fail("format-name"_rule, kParamInvalid, name, " is \"", readable(object),
                     "\"; expected \"NCDHW\", \"NDHWC\" or another documented format"));
  for (Array& array : arrays_) array.tensor.format = found;
}

Status Arguments::read_again(std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    auto* const object = static_cast<PyObject*>(const_cast<void*>(operand.arg.handle));
    if (!may_be_resized(object)) continue;
    Array& array = *std::ranges::find_if(
        arrays_, [&](const Array& each) { return &each.tensor == operand.arg.tensor; });
    const Format format = array.tensor.format;
    array = {};
    array.tensor.format = format;
    const Access access = writes(operand.use) ? Access::write : Access::read;
    RETURN_IF_FAILED(read_array(operand.name, object, access, array));
  }
  return {};
}

bool Arguments::has_copies() const {
  return std::any_of(arrays_.begin() + 1, arrays_.begin() + count_,
                     [](const Array& input) { return input.source != nullptr; });
}

Status Arguments::check_copies(std::span<const Operand> operands) const {
  const Operand& out = operands.back();
  for (const Operand& in : operands)
    for (const Array& array : arrays_)
      if (&array.tensor == in.arg.tensor && array.source && overlaps(*out.arg, *array.source))
        return fail("output-overlaps-input"_rule, kParamInvalid, out.name, " overlaps ", in.name,
                    " in memory");
  return {};
}

int64_t Arguments::most_elements() const {
  int64_t most = 0;
  for (size_t i = 0; i < count_; ++i) most = std::max(most, arrays_[i].tensor.numel());
  return most;
}

}  // namespace softnpu::python
