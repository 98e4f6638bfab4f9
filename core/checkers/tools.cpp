// SPDX-License-Identifier: Apache-2.0
#include "checkers/tools.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/environment.h"
#include "base/observer.h"
#include "checkers/host_access.h"
#include "checkers/in_flight.h"
#include "checkers/initialized.h"
#include "checkers/ledger.h"
#include "checkers/lifetimes.h"
#include "checkers/misuse.h"
#include "checkers/order.h"

namespace softnpu::checkers {
namespace {

constexpr int kFindingsStatus = 86;

Tools all_tools() {
  Tools tools;
  for (size_t i = 0; i < std::size(kToolNames); ++i) tools.add(static_cast<Tool>(i));
  return tools;
}

std::atomic<LifetimeChecker*> lifetimes{nullptr};

// Requests a workspace for every operator, so that programs that never allocate one are caught.
class AskForWorkspace final : public Observer {
 public:
  uint64_t least_workspace() const override { return 512; }
};

// Runs after all of the program's exit handlers, because the library was loaded before them.
// Calling exit() again only changes the status: the C library continues where it was, and flushes
// buffers without waiting for streams that other threads use.
void end_of_process() {
  notify(&Observer::ending);
  if (finding_count() == 0) return;
  const int status = number_setting("SOFTNPU_CHECK_EXITCODE", 0, 255).value_or(kFindingsStatus);
  if (status != 0) std::exit(status);
}

}  // namespace

void start_as_asked() {
  const char* const list = setting("SOFTNPU_CHECK");
  if (list == nullptr || std::string_view(list) == "0") return;
  const auto tools = parse_tools(list);
  if (!tools) return report_invalid_setting("SOFTNPU_CHECK", text("1, ", kToolLists));
  choose_report();
  start(*tools);
  std::atexit(end_of_process);
}

std::optional<Tools> parse_tools(std::string_view list) {
  if (list == "1" || list == "all") return all_tools();
  Tools tools;
  while (!list.empty()) {
    const size_t length = std::min(list.find(','), list.size());
    const auto found = std::ranges::find(kToolNames, list.substr(0, length));
    if (found == std::end(kToolNames)) return std::nullopt;
    tools.add(static_cast<Tool>(found - std::begin(kToolNames)));
    list.remove_prefix(std::min(length + 1, list.size()));
  }
  return tools;
}

void start(Tools tools) {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  // MisuseChecker first, because it tracks the current call; then the ledger, which the others
  // query.
  observe(*new MisuseChecker(tools));
  observe(ledger());
  if (tools.have(Tool::memcheck)) observe(*new AskForWorkspace);
  observe(*new OrderChecker(tools));
  if (tools.have(Tool::initcheck)) observe(*new InitChecker);
  lifetimes.store(new LifetimeChecker(tools));
  observe(*lifetimes.load());
  if (tools.have(Tool::memcheck)) {
    watch_host_access();
    observe(*new FaultWatcher);
    in_flight().start();
  }
}

uint64_t moment() { return ledger().now(); }

void look_for_leaks(uint64_t since) {
  if (LifetimeChecker* const checker = lifetimes.load()) checker->report_leaks(since);
}

}  // namespace softnpu::checkers
