// SPDX-License-Identifier: Apache-2.0
// The wrappers of the C entry points on descriptors. The templates are static, because each entry
// point inlines its own copy.
#pragma once

#include <memory>

#include "base/fault_injection.h"
#include "base/guard.h"
#include "base/status.h"
#include "tensor/handles.h"

namespace softnpu {

constexpr GuardCodes kEntryCodes{kInnerNullptr, kInnerNullptr};

// Creates an object with `make` and returns its handle; null on failure.
template <class Handle, class Table, class Make>
static Handle* create(const Call& call, Table& table, Make&& make) {
  void* handle = nullptr;
  guard(call, kEntryCodes, [&]() -> Status {
    RETURN_IF_FAILED(injected_failure(FaultKind::create));
    std::shared_ptr<typename Table::Object> object;
    RETURN_IF_FAILED(make(object));
    handle = table.insert(std::move(object));
    if (handle == nullptr)
      return fail("handle-limit"_rule, kInnerNullptr, "too many handles of its kind are alive");
    return {};
  });
  return static_cast<Handle*>(handle);
}

template <class Table, class Body>
static int32_t with_object(const Call& call, const char* argument, Table& table, const void* handle,
                           Body&& body) {
  return guard(call, kEntryCodes, [&]() -> Status {
    const auto object = table.find(handle);
    if (object == nullptr) [[unlikely]]
      return not_found(argument, handle, Table::kKind);
    return body(*object);
  });
}

template <class Table>
static int32_t destroy(const Call& call, const char* argument, Table& table, const void* handle) {
  return guard(call, kEntryCodes, [&]() -> Status {
    if (table.erase(handle) != nullptr) [[likely]]
      return {};
    return not_found(argument, handle, Table::kKind);
  });
}

inline Status check_result(const char* argument, const void* place) {
  return place != nullptr ? Status()
                          : fail("output-pointer-null"_rule, kParamNullptr, argument, " is null");
}

// Writes a result to an out-parameter, which may be null.
template <class T, class Value>
static Status store(const char* argument, T* place, Value value) {
  RETURN_IF_FAILED(check_result(argument, place));
  *place = static_cast<T>(value);
  return {};
}

}  // namespace softnpu
