// SPDX-License-Identifier: Apache-2.0
// Python's objects in messages. An object may be of any class, so none of these relies on it: text
// that is not UTF-8 shows as escapes, and what raises an error is left out.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace softnpu::python {

// str() of an object; its class's name where that fails.
std::string readable(nanobind::handle object);

// "module.name", and the name alone for a type that is written in C.
std::string class_name(nanobind::handle object);

}  // namespace softnpu::python
