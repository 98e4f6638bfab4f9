// SPDX-License-Identifier: Apache-2.0
// The arguments of one call of an operator, read from Python objects.
#pragma once

#include <array>
#include <span>

#include "array.h"
#include "autograd.h"
#include "base/float_state.h"
#include "executor/operand.h"

namespace softnpu::python {

// All arguments are read, even after an error, because the contract's null checks come first, then
// the first error found here, then the rest of the contract. None is a null pointer, except for the
// output: there it requests a new array.
class Arguments {
 public:
  TensorArg input(const char* name, nb::handle object);
  TensorArg output(const char* name, nb::handle object);
  // The output may also be the input.
  TensorArg in_out(const char* name, nb::handle object) {
    return object.is_none() ? TensorArg() : output(name, object);
  }
  const Scalar* scalar(const char* name, nb::handle object);
  const IntArray* int_array(const char* name, nb::handle object);
  bool flag(const char* name, nb::handle object);
  double number(const char* name, nb::handle object);
  int64_t integer(const char* name, nb::handle object);
  // 0 for None.
  double scale(const char* name, nb::handle object) {
    return object.is_none() ? 0 : number(name, object);
  }
  int64_t reduction(const char* name, nb::handle object);
  // The documented name of a format, which applies to all tensors of the call.
  void format(const char* name, nb::handle object);

  // Whether an argument's own code may have run since the first array was read.
  bool ran_code() const { return ran_code_; }
  // Reads the arrays again whose memory such code may have replaced.
  [[gnu::cold]] Status read_again(std::span<const Operand> operands);

  // The first failure.
  const Status& status() const { return status_; }

  bool makes_output() const { return out_ == Py_None; }
  // The sizes and the data type of a new output.
  Tensor& output_tensor() { return arrays_[0].tensor; }
  // Creates the output, of the same kind as the first input.
  Status make_output(const char* name) {
    return make_array(name, like_, contiguous_ ? Tensor() : arrays_[1].tensor, output_tensor(),
                      made_);
  }
  // For an operator that always creates its result.
  void make_contiguous() { contiguous_ = true; }
  // Whether the creation may have run foreign code, such as another library's from_dlpack.
  bool output_ran_code() const { return makes_output() && made_.take_over.is_valid(); }
  bool output_is_fresh() const { return makes_output() && made_.fresh; }
  void announce_write() const {
    if (!makes_output()) python::announce_write(out_);
  }
  nb::object result() const { return makes_output() ? made_.finish() : nb::borrow(out_); }

  // Whether to read an input as a copy, which no output can overlap, and whether the output
  // overlaps the original.
  bool has_copies() const;
  [[gnu::cold]] Status check_copies(std::span<const Operand> operands) const;

  // The number of elements of the largest array.
  int64_t most_elements() const;

 private:
  const DefaultFloats floats_;

  void keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  static constexpr size_t kMost = 4;
  std::array<Array, kMost> arrays_;  // the output is the first
  size_t count_ = 1;
  std::array<Scalar, 3> scalars_;
  size_t scalar_count_ = 0;
  std::array<IntArray, 3> int_arrays_;
  size_t int_array_count_ = 0;
  PyObject* like_ = nullptr;  // the first input
  PyObject* out_ = nullptr;
  bool ran_code_ = false, contiguous_ = false;
  NewArray made_;
  Status status_;
};

}  // namespace softnpu::python
