// SPDX-License-Identifier: Apache-2.0
// The shell of the C entry points on descriptors.
#pragma once

#include <memory>

#include "base/guard.h"
#include "base/handle_table.h"
#include "base/status.h"

namespace softnpu {

constexpr GuardCodes kEntryCodes{kInnerNullptr, kInnerNullptr};

// Puts what `make` sets its argument to behind a new handle. Null on failure.
template <class Handle, class Table, class Make>
Handle* create(std::string_view function, Table& table, Make&& make) {
  void* handle = nullptr;
  guard(function, kEntryCodes, [&]() -> Status {
    std::shared_ptr<typename Table::Object> object;
    RETURN_IF_FAILED(make(object));
    handle = table.insert(std::move(object));
    if (handle == nullptr) return fail(kInnerNullptr, "too many handles of its kind are alive");
    return {};
  });
  return static_cast<Handle*>(handle);
}

template <class Table>
Status check_live(std::string_view argument, const Table&, const void* handle, bool live) {
  if (live) [[likely]]
    return {};
  if (handle == nullptr) return fail(kParamNullptr, argument, " is null");
  return fail(kParamInvalid, not_live(argument, handle, Table::kKind));
}

// Calls `body` with the live object behind a handle.
template <class Table, class Body>
int32_t with_object(std::string_view function, std::string_view argument, Table& table,
                    const void* handle, Body&& body) {
  return guard(function, kEntryCodes, [&]() -> Status {
    const auto object = table.find(handle);
    RETURN_IF_FAILED(check_live(argument, table, handle, object != nullptr));
    return body(*object);
  });
}

template <class Table>
int32_t destroy(std::string_view function, std::string_view argument, Table& table,
                const void* handle) {
  return guard(function, kEntryCodes,
               [&] { return check_live(argument, table, handle, table.erase(handle) != nullptr); });
}

inline Status check_result(std::string_view argument, const void* place) {
  return place != nullptr ? Status() : fail(kParamNullptr, argument, " is null");
}

// Writes a result where the caller wants it.
template <class T, class Value>
Status store(std::string_view argument, T* place, Value value) {
  RETURN_IF_FAILED(check_result(argument, place));
  *place = static_cast<T>(value);
  return {};
}

}  // namespace softnpu
