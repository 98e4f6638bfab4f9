// SPDX-License-Identifier: Apache-2.0
#include "checkers/ledger.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/lasting.h"
#include "executor/executor.h"
#include "tensor/handles.h"

namespace softnpu::checkers {
namespace {

uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

const Allocation* containing(const std::map<uintptr_t, Allocation>& all, uintptr_t address) {
  auto next = all.upper_bound(address);
  if (next == all.begin()) return nullptr;
  --next;
  return address - next->first < next->second.size ? &next->second : nullptr;
}

// Bytes between an allocation and an address that count as beside it.
constexpr uintptr_t kBeside = 4096;

uintptr_t distance_to(const Allocation& one, const void* address) {
  const uintptr_t a = number(address), end = one.base + one.size;
  return a < one.base ? one.base - a : a - end + 1;
}

struct Words {
  const char *begun, *ended;
};

Words words_of(runtime::Family family) {
  if (family == runtime::Family::mapped) return {"mapped", "unmapped"};
  if (family == runtime::Family::imported) return {"imported", "closed"};
  return {"allocated", "freed"};
}

bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [&](size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (!is_letter(at - 1) && !is_letter(at + word.size())) return true;
  return false;
}

}  // namespace

Ledger& ledger() { return lasting<Ledger>; }

void Ledger::allocated(runtime::Family family, const std::byte* base, size_t size) {
  const SharedSite here = current_site();
  std::lock_guard lock(mutex_);
  const uintptr_t begin = number(base);
  freed_.erase(freed_.lower_bound(begin), freed_.lower_bound(begin + size));
  live_[begin] = {begin, size, family, ++now_, here};
}

void Ledger::handed_out(const std::byte* base) {
  const SharedSite here = current_site();
  std::lock_guard lock(mutex_);
  const auto found = live_.find(number(base));
  if (found == live_.end()) return;
  found->second.made = here;
  found->second.is_librarys = true;
}

void Ledger::releasing(runtime::Family, const std::byte* base, size_t) {
  const SharedSite here = current_site();
  std::lock_guard lock(mutex_);
  const auto found = live_.find(number(base));
  if (found == live_.end()) return;  // allocated before the checks began
  make_room(freed_, most_freed_);
  found->second.freed = here;
  found->second.ended = ++now_;
  freed_[found->first] = std::move(found->second);
  live_.erase(found);
}

std::optional<Allocation> Ledger::find(const void* address) const {
  std::lock_guard lock(mutex_);
  const Allocation* found = containing(live_, number(address));
  if (found == nullptr) found = containing(freed_, number(address));
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::optional<Allocation> Ledger::find_beside(const void* address) const {
  std::lock_guard lock(mutex_);
  const Allocation* nearest = nullptr;
  uintptr_t least = kBeside;
  for (const auto* const all : {&live_, &freed_}) {
    const auto consider = [&](const Allocation& one) {
      const uintptr_t distance = distance_to(one, address);
      if (distance < least) nearest = &one;
      least = std::min(least, distance);
    };
    const auto next = all->upper_bound(number(address));
    if (next != all->begin()) consider(std::prev(next)->second);
    if (next != all->end()) consider(next->second);
  }
  return nearest != nullptr ? std::optional(*nearest) : std::nullopt;
}

std::vector<Allocation> Ledger::live() const {
  std::lock_guard lock(mutex_);
  std::vector<Allocation> all;
  for (const auto& [base, allocation] : live_) all.push_back(allocation);
  return all;
}

void add_history(std::string_view memory, const Allocation& allocation, Finding& finding) {
  const bool is_reported = !finding.parts.empty() && finding.parts.front().site == allocation.freed;
  const auto [begun, ended] = words_of(allocation.family);
  finding.parts.push_back(
      {text(memory, ", ", allocation.size, " bytes, was ", begun, " here"), allocation.made});
  if (allocation.freed && !is_reported)
    finding.parts.push_back({text("and ", ended, " here"), allocation.freed});
}

void add_history(std::string_view memory, const void* address, Finding& finding) {
  if (const auto allocation = ledger().find(address)) add_history(memory, *allocation, finding);
}

void Ledger::created(HandleKind kind, const void* handle) {
  const SharedSite here = current_site();
  std::lock_guard lock(mutex_);
  handles_[handle] = {handle, kind, ++now_, here};
  destroyed_.erase(handle);  // a reserved address may be reused
}

void Ledger::kept_by_library(const void* handle) {
  std::lock_guard lock(mutex_);
  if (const auto found = handles_.find(handle); found != handles_.end())
    found->second.is_librarys = true;
}

void Ledger::destroyed(HandleKind, const void* handle) {
  const SharedSite here = current_site();
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return;
  make_room(destroyed_, most_destroyed_);
  destroyed_[handle] = {found->second.when, ++now_, here};
  handles_.erase(found);
}

// Forgets the older half of what has ended, but nothing that a live object may refer to: one that
// was created meanwhile.
template <class Ended>
void Ledger::make_room(Ended& ended, size_t& most) const {
  if (ended.size() < most) return;
  std::vector<uint64_t> births, ends;
  for (const auto& [handle, about] : handles_) births.push_back(about.when);
  std::ranges::sort(births);
  for (const auto& [key, one] : ended) ends.push_back(one.ended);
  const auto middle = ends.begin() + static_cast<ptrdiff_t>(ends.size() / 2);
  std::ranges::nth_element(ends, middle);
  std::erase_if(ended, [&](const auto& entry) {
    const auto& one = entry.second;
    if (one.ended >= *middle) return false;
    const auto born = std::ranges::upper_bound(births, one.when);
    return born == births.end() || *born > one.ended;
  });
  most = std::max(kMostKept, 2 * ended.size());
}

void Ledger::launched(const Piece& piece) {
  const SharedSite here = current_site();
  std::lock_guard lock(mutex_);
  launches_[&piece] = here;
}

void Ledger::finished(const Piece& piece, const Status&) {
  std::lock_guard lock(mutex_);
  launches_.erase(&piece);
}

SharedSite Ledger::launch(const Piece& piece) const {
  std::lock_guard lock(mutex_);
  const auto found = launches_.find(&piece);
  return found != launches_.end() ? found->second : nullptr;
}

std::vector<Ledger::Handle> Ledger::live_handles() const {
  std::lock_guard lock(mutex_);
  std::vector<Handle> all;
  for (const auto& [handle, about] : handles_) all.push_back(about);
  return all;
}

uint64_t Ledger::now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

uint64_t Ledger::inherited() const {
  std::lock_guard lock(mutex_);
  return inherited_;
}

SharedSite Ledger::creation(const void* handle) const {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  return found != handles_.end() ? found->second.made : nullptr;
}

SharedSite Ledger::destruction(const void* handle) const {
  std::lock_guard lock(mutex_);
  const auto found = destroyed_.find(handle);
  return found != destroyed_.end() ? found->second.site : nullptr;
}

void add_history_of_arguments(const Site& site, std::string_view message, Finding& finding) {
  for (const Argument& argument : site.arguments) {
    if (argument.pointer == nullptr) continue;
    if (const auto plan = executors().find(argument.pointer))
      for (const auto& [name, origin] : plan->origins())
        if (has_word(message, name)) add_history(text("the memory of ", name), origin, finding);
    if (!has_word(message, argument.name)) continue;
    if (const SharedSite where = ledger().destruction(argument.pointer))
      finding.parts.push_back({where->function.find("Destroy") != std::string_view::npos
                                   ? "it was destroyed here"
                                   : "this call used it up",
                               where});
    const auto tensor = tensors().find(argument.pointer);
    const SharedSite made = tensor ? ledger().creation(argument.pointer) : nullptr;
    if (made) finding.parts.push_back({text(argument.name, " was created here"), made});
    if (made && finding.tool == Tool::apicheck) continue;  // it is not about memory
    add_history(text("the memory of ", argument.name), tensor ? tensor->origin() : argument.pointer,
                finding);
  }
}

std::string place_in(const Allocation& allocation, const void* address) {
  const uintptr_t a = number(address), end = allocation.base + allocation.size;
  if (a < allocation.base)
    return text(allocation.base - a, " bytes before an allocation of ", allocation.size, " bytes");
  if (a >= end)
    return text(a - end, " bytes past the end of an allocation of ", allocation.size, " bytes");
  return text(a - allocation.base, " bytes into an allocation of ", allocation.size, " bytes");
}

}  // namespace softnpu::checkers
