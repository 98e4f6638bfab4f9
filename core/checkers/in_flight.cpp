// SPDX-License-Identifier: Apache-2.0
#include "checkers/in_flight.h"

#include <sys/mman.h>

#include <algorithm>
#include <optional>

#include "base/page_size.h"
#include "checkers/findings.h"
#include "checkers/host_access.h"
#include "checkers/ledger.h"

namespace softnpu::checkers {
namespace {

// Whether this thread runs a task of a stream.
thread_local bool runs_task = false;

struct Pages {
  std::byte* begin;
  size_t size;
};

// The pages of host memory in which an access has all bytes that belong to anybody.
std::optional<Pages> pages_of(const Access& access) {
  const auto& sizes = access.sizes;
  if (sizes.size() != 2 || (sizes[0] != 1 && access.strides[0] != sizes[1])) return std::nullopt;
  const auto allocation = ledger().find(access.first);
  if (!allocation || allocation->freed || allocation->family != runtime::Family::host)
    return std::nullopt;
  const uintptr_t page = page_size();
  const auto first = reinterpret_cast<uintptr_t>(access.first);
  const uintptr_t last = first + static_cast<size_t>(sizes[0] * sizes[1]);
  const uintptr_t begin = (first + page - 1) / page * page;  // allocations start at a page
  const bool to_end = last == allocation->base + allocation->size;
  const uintptr_t end = (last + (to_end ? page - 1 : 0)) / page * page;
  if (begin >= end) return std::nullopt;
  return Pages{reinterpret_cast<std::byte*>(begin), end - begin};
}

}  // namespace

void InFlight::add(const Piece& piece, const Point& point, const SharedSite& site) {
  if (!is_started_) return;
  for (const Access& access : piece.accesses) {
    const auto pages = pages_of(access);
    if (!pages) continue;
    watch_faults();
    std::lock_guard lock(mutex_);
    uses_.push_back(
        {&piece, pages->begin, pages->size, access.writes, point, piece.what, access.name, site});
    protect(pages->begin, pages->size);
  }
}

void InFlight::begin(const Piece& piece) {
  runs_task = piece.kind != Piece::Kind::host_function;
  std::lock_guard lock(mutex_);
  for (Use& use : uses_) {
    if (use.piece != &piece) continue;
    use.is_lifted = true;
    protect(use.begin, use.size);
  }
}

void InFlight::end(const Piece& piece) {
  runs_task = false;
  std::lock_guard lock(mutex_);
  for (Use& use : uses_) {
    if (use.piece == &piece) use.piece = nullptr;  // another may get its address
    if (!use.is_lifted || use.piece != nullptr) continue;
    use.is_lifted = false;
    protect(use.begin, use.size);
  }
}

void InFlight::forget(const std::function<bool(const Point&)>& is_known) {
  Uses removed;  // destroyed without the lock
  std::lock_guard lock(mutex_);
  remove_if([&](const Use& use) { return is_known(use.point); }, removed);
}

void InFlight::forget(const std::byte* base, size_t size) {
  Uses removed;
  std::lock_guard lock(mutex_);
  remove_if([&](const Use& use) { return use.meets(base, size); }, removed);
}

bool InFlight::fault(std::byte* address, bool writes, const char* does) {
  Uses removed;
  {
    std::lock_guard lock(mutex_);
    const auto is_hit = [&](const Use& use) { return use.meets(address, 1); };
    if (std::none_of(uses_.begin(), uses_.end(), is_hit)) return false;
    if (runs_task) {  // of another copy: the launch of the two was checked
      for (Use& use : uses_)
        if (is_hit(use)) use.is_lifted = true;
      for (const Use& use : uses_)
        if (is_hit(use)) protect(use.begin, use.size);
      return true;
    }
    remove_if(is_hit, removed);
  }
  const auto guilty = std::find_if(removed.begin(), removed.end(), [&](const Use& use) {
    return (use.writes || writes) && !is_held_(use.point);
  });
  if (guilty != removed.end()) report_access(*guilty, address, does);
  return true;
}

void InFlight::protect(std::byte* begin, size_t size) const {
  mprotect(begin, size, PROT_READ | PROT_WRITE);
  for (const bool writes : {false, true})
    for (const Use& use : uses_)
      if (use.writes == writes && !use.is_lifted && use.meets(begin, size))
        mprotect(use.begin, use.size, writes ? PROT_NONE : PROT_READ);
}

template <class Predicate>
void InFlight::remove_if(Predicate predicate, Uses& removed) {
  for (auto next = uses_.begin(); next != uses_.end();) {
    const auto current = next++;
    if (predicate(*current)) removed.splice(removed.end(), uses_, current);
  }
  for (const Use& use : removed) protect(use.begin, use.size);
}

void InFlight::report_access(const Use& use, const std::byte* address, const char* does) {
  std::string pointer;
  append_argument(pointer, static_cast<const void*>(address));
  Finding finding{
      Tool::memcheck,
      "host-buffer-in-use",
      text("the program itself ", does, " host memory, at ", pointer, ", that ", use.what,
           " on stream ", use.point.stream, " may still ", use.writes ? "write" : "read", " as ",
           use.name, ": nothing has waited for that work since it was launched"),
      {},
      "Synchronise the stream, or an event after the copy, before the program uses its buffer."};
  finding.parts.push_back({"here", std::make_shared<const Site>(Site{{}, {}, Stack::here()})});
  finding.parts.push_back({"the work was launched here", use.site});
  add_history("the memory", address, finding);
  report(finding);
}

}  // namespace softnpu::checkers
