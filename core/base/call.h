// SPDX-License-Identifier: Apache-2.0
// A call of the C API: which function, with which arguments, by their documented names.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/export.h"
#include "base/text.h"

namespace softnpu {

struct Argument {
  std::string_view name;  // lives as long as the process
  std::string value;      // as text; for a pointer to a result, the pointer itself
  const void* pointer = nullptr;
};
// "devPtr=0x7f0012345640, size=64"
SOFTNPU_EXPORT std::string to_text(const std::vector<Argument>& arguments);

// Arguments are converted to text only on request. A Call lives as long as the call of the
// function.
class Call {
 public:
  std::string_view function() const { return function_; }
  // The address in the program, or in its interpreter, that the call returns to.
  const void* caller() const { return caller_; }
  std::vector<Argument> arguments() const {
    std::vector<Argument> out;
    list_(*this, out);
    return out;
  }

 protected:
  using List = void (*)(const Call&, std::vector<Argument>&);
  constexpr Call(const void* caller, const char* function, const char* names, List list)
      : caller_(caller), function_(function), names_(names), list_(list) {}

  const char* names() const { return names_; }

 private:
  const void* caller_;
  const char* function_;
  const char* names_;  // "devPtr, size"
  List list_;
};

// Converts argument values to text. A caller may pass an enumerator with any number.
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
  NamedCall(const void* caller, const char* function, const char* names, const T&... values)
      : Call(caller, function, names, &NamedCall::list), values_(values...) {}

 private:
  static void list(const Call& call, std::vector<Argument>& out) {
    const auto& self = static_cast<const NamedCall&>(call);
    const char* name = self.names();
    out.reserve(sizeof...(T));
    std::apply([&](const auto&... values) { (add(name, values, out), ...); }, self.values_);
  }

  template <class Value>
  static void add(const char*& name, const Value& value, std::vector<Argument>& out) {
    const size_t length = std::strcspn(name, ",");
    Argument& added = out.emplace_back(std::string_view(name, length));
    append_argument(added.value, value);
    if constexpr (std::is_convertible_v<Value, const void*>) added.pointer = value;
    name += length;
    name += std::strspn(name, ", ");
  }

  std::tuple<const T&...> values_;
};

}  // namespace softnpu

// Describes the current call of the enclosing C function, with the names of its parameters.
#define CALL(...)                                             \
  ::softnpu::NamedCall(__builtin_return_address(0), __func__, \
                       #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__)
