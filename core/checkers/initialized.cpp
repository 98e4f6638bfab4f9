// SPDX-License-Identifier: Apache-2.0
#include "checkers/initialized.h"

#include <algorithm>
#include <new>
#include <vector>

#include "checkers/ledger.h"

namespace softnpu::checkers {
namespace {

uintptr_t number(const std::byte* address) { return reinterpret_cast<uintptr_t>(address); }

// Calls `body` with the first byte and the length of each run of adjacent bytes, until it returns
// false. The view's strides must not be negative.
template <class Body>
void for_each_run(const Access& access, Body&& body) {
  const int64_t item = item_size(access.dtype);
  size_t inner = access.sizes.size();
  int64_t run = 1;  // elements
  while (inner > 0 && (access.sizes[inner - 1] == 1 || access.strides[inner - 1] == run))
    run *= access.sizes[--inner];
  if (std::ranges::find(access.sizes, 0) != access.sizes.end()) return;
  std::vector<int64_t> index(inner, 0);
  while (true) {
    int64_t offset = 0;
    for (size_t i = 0; i < inner; ++i) offset += index[i] * access.strides[i];
    if (!body(access.first + offset * item, static_cast<size_t>(run * item))) return;
    size_t i = inner;
    while (i > 0 && ++index[i - 1] == access.sizes[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace

void InitChecker::allocated(runtime::Family family, const std::byte* base, size_t size) {
  if (family == runtime::Family::host) return;
  std::lock_guard lock(mutex_);
  try {
    shadows_.insert_or_assign(number(base), Shadow(size));
  } catch (const std::bad_alloc&) {  // the allocation is not tracked
  }
}

void InitChecker::releasing(runtime::Family, const std::byte* base, size_t) {
  std::lock_guard lock(mutex_);
  shadows_.erase(number(base));
}

void InitChecker::set_all(const std::byte* base, bool written) {
  std::lock_guard lock(mutex_);
  const auto found = shadows_.find(number(base));
  if (found != shadows_.end()) found->second.set(0, found->second.size(), written);
}

void InitChecker::started(const Piece& piece) {
  const Access* bad = nullptr;
  SharedSite where;
  const std::byte* byte = nullptr;
  {
    std::lock_guard lock(mutex_);
    const Access* target = nullptr;
    for (const Access& access : piece.accesses)
      if (access.writes) target = &access;
    const bool in_device = piece.kind == Piece::Kind::copy && target != nullptr &&
                           watched(target->first).shadow != nullptr;
    for (const Access& access : piece.accesses) {
      if (access.writes) continue;
      if (in_device) {
        copy_shadow(*target, access);
        return;
      }
      byte = first_unwritten(access);
      if (byte == nullptr) continue;
      bad = &access;
      where = ledger().launch(piece);
      break;
    }
  }
  if (bad != nullptr) report_read(piece, where ? where : current_site(), *bad, byte);
  std::lock_guard lock(mutex_);
  for (const Access& access : piece.accesses)
    if (access.writes) mark_written(access);
}

InitChecker::Bytes InitChecker::watched(const std::byte* address) {
  auto next = shadows_.upper_bound(number(address));
  if (next == shadows_.begin()) return {nullptr, 0};
  --next;
  const size_t offset = number(address) - next->first;
  return offset < next->second.size() ? Bytes{&next->second, offset} : Bytes{nullptr, 0};
}

template <class Body>
bool InitChecker::for_each_part(const std::byte* first, size_t count, Body&& body) {
  while (count > 0) {
    const auto [shadow, begin] = watched(first);
    if (shadow == nullptr) return false;
    const size_t part = std::min(count, shadow->size() - begin);
    if (!body(*shadow, begin, part)) return false;
    first += part;
    count -= part;
  }
  return true;
}

const std::byte* InitChecker::first_unwritten(const Access& access) {
  const std::byte* found = nullptr;
  for_each_run(access, [&](const std::byte* first, size_t count) {
    return for_each_part(first, count, [&](const Shadow& shadow, size_t begin, size_t part) {
      const size_t at = shadow.first_unwritten(begin, begin + part);
      if (at != begin + part) found = first + (at - begin);
      first += part;
      return found == nullptr;
    });
  });
  return found;
}

void InitChecker::mark_written(const Access& access) {
  for_each_run(access, [&](const std::byte* first, size_t count) {
    return for_each_part(first, count, [](Shadow& shadow, size_t begin, size_t part) {
      shadow.set(begin, begin + part, true);
      return true;
    });
  });
}

void InitChecker::copy_shadow(const Access& to, const Access& from) {
  if (watched(from.first).shadow == nullptr) return mark_written(to);
  // Through a temporary, because the two views may overlap.
  Shadow between(static_cast<size_t>(from.sizes[0] * from.sizes[1]));
  size_t next = 0;
  for_each_run(from, [&](const std::byte* first, size_t count) {
    return for_each_part(first, count, [&](const Shadow& shadow, size_t begin, size_t part) {
      between.copy(next, shadow, begin, begin + part);
      next += part;
      return true;
    });
  });
  next = 0;
  for_each_run(to, [&](const std::byte* first, size_t count) {
    return for_each_part(first, count, [&](Shadow& shadow, size_t begin, size_t part) {
      shadow.copy(begin, between, next, next + part);
      next += part;
      return true;
    });
  });
}

void InitChecker::report_read(const Piece& piece, SharedSite where, const Access& access,
                              const std::byte* byte) const {
  const auto allocation = ledger().find(byte);
  Finding finding{Tool::initcheck,
                  "uninitialized-read",
                  text(piece.what, " reads ", access.name, ", but nothing has written byte ",
                       byte - access.first, " of it",
                       allocation ? text(", which is ", place_in(*allocation, byte)) : ""),
                  {},
                  "Copy data to the memory, or fill it (aclrtMemset), before it is read."};
  finding.parts.push_back(
      {piece.stream == Piece::kHostThread ? "by this call" : "launched here", where});
  add_history("the memory", byte, finding);
  report(finding);
}

}  // namespace softnpu::checkers
