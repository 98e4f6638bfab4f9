// SPDX-License-Identifier: Apache-2.0
// Operators that softnpu does not have. libmissing.so and the libraries that `softnpu run`
// generates answer calls of them by softnpu_absent_operator().
#include <map>
#include <mutex>
#include <string>

#include "base/guard.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "base/text.h"

namespace softnpu::runtime {
namespace {

struct Calls {
  std::mutex mutex;
  std::map<std::string, size_t> counts;  // by function; a Call refers to the name
};

const char* count_call(const char* function) {
  std::lock_guard lock(lasting<Calls>.mutex);
  const auto found = lasting<Calls>.counts.try_emplace(function, 0).first;
  ++found->second;
  return found->first.c_str();
}

[[gnu::destructor]] void report_at_exit() {
  try {
    std::string lines;
    for (const auto& [function, count] : lasting<Calls>.counts)
      lines += text("\n  ", function, ": ", count, count == 1 ? " call" : " calls");
    if (lines.empty()) return;
    print_to_stderr(text("softnpu: exit: softnpu " SOFTNPU_VERSION
                         " does not have these functions; each call returned 561003:",
                         lines,
                         "\nTo add an operator, see `softnpu build --help` and "
                         "docs/own-operators.md.\n"));
  } catch (...) {  // out of memory: nothing can be reported
  }
}

}  // namespace
}  // namespace softnpu::runtime

extern "C" SOFTNPU_EXPORT int32_t softnpu_absent_operator(const char* function) {
  using namespace softnpu;
  try {
    const char* const name = runtime::count_call(function);
    return guard(NamedCall(__builtin_return_address(0), name, ""), {kRuntimeError, kRuntimeError},
                 [] {
                   return fail("operator-absent"_rule, kFindKernelError,
                               "softnpu " SOFTNPU_VERSION " does not have this operator");
                 });
  } catch (const std::bad_alloc&) {
    return kFindKernelError;
  }
}
