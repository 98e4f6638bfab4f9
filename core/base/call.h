// SPDX-License-Identifier: Apache-2.0
// A call of the C API: which function, with which arguments, by their documented names.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/export.h"
#include "base/text.h"

namespace softnpu {

// Nothing is made of the arguments unless somebody asks for their text. Lives as long as the call.
class Call {
 public:
  std::string_view function() const { return function_; }
  // "devPtr=0x7f0012345640, size=64"; pointers to results as what they point at is not known.
  std::string arguments() const {
    std::string out;
    write_(*this, out);
    return out;
  }
  std::string text() const { return softnpu::text(function_, "(", arguments(), ")"); }

 protected:
  using Write = void (*)(const Call&, std::string&);
  constexpr Call(const char* function, const char* names, Write write)
      : function_(function), names_(names), write_(write) {}

  const char* names() const { return names_; }

 private:
  const char* function_;
  const char* names_;  // "devPtr, size"
  Write write_;
};

// Values of arguments as text. An enumerator's number may be one that a caller made up.
SOFTNPU_EXPORT void append_argument(std::string& out, const void* pointer);
SOFTNPU_EXPORT void append_argument(std::string& out, const char* string);
template <class T>
  requires(std::is_arithmetic_v<T>)
void append_argument(std::string& out, T value) {
  append_text(out, value);
}
template <class T>
  requires(std::is_enum_v<T>)
void append_argument(std::string& out, const T& value) {
  int32_t number;
  static_assert(sizeof number == sizeof value);
  std::memcpy(&number, &value, sizeof number);
  append_text(out, number);
}
template <class Result, class... Parameters>
void append_argument(std::string& out, Result (*function)(Parameters...)) {
  append_argument(out, reinterpret_cast<const void*>(function));
}

template <class... T>
class NamedCall : public Call {
 public:
  NamedCall(const char* function, const char* names, const T&... values)
      : Call(function, names, &NamedCall::write), values_(values...) {}

 private:
  static void write(const Call& call, std::string& out) {
    const auto& self = static_cast<const NamedCall&>(call);
    const char* name = self.names();
    std::apply([&](const auto&... values) { (write_one(name, values, out), ...); }, self.values_);
  }

  template <class Value>
  static void write_one(const char*& name, const Value& value, std::string& out) {
    const size_t length = std::strcspn(name, ",");
    out.append(out.empty() ? "" : ", ").append(name, length).append("=");
    append_argument(out, value);
    name += length;
    name += std::strspn(name, ", ");
  }

  std::tuple<const T&...> values_;
};

}  // namespace softnpu

// The call of the C function that this stands in, with the names of its parameters.
#define CALL(...) ::softnpu::NamedCall(__func__, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__)
