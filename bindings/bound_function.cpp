// SPDX-License-Identifier: Apache-2.0
#include "bound_function.h"

#include "raise.h"

namespace softnpu::python {

void refuse(const Place& place, nb::handle given, const std::string& expected) {
  std::string message = text(place.function, ": ");
  if (place.member) message += text("element ", *place.member, " of ");
  message += text(place.argument, " is ");
  message += PyLong_CheckExact(given.ptr()) ? readable(given) : "of class " + class_name(given);
  message += text("; expected ", expected, place.may_be_none ? ", or None" : "");
  raise(PyExc_TypeError, "argument-class"_rule, message);
}

}  // namespace softnpu::python
