// SPDX-License-Identifier: Apache-2.0
// The end of the process.
#include "base/lines.h"
#include "base/observer.h"
#include "base/text.h"
#include "runtime/stream.h"

namespace softnpu::runtime {
namespace {

// One line for each stream. Does not wait, because running work may never end.
void report_unfetched_failures() {
  for (const auto& stream : streams_at_exit()) {
    const Status failure = stream->unfetched_failure();
    if (failure.ok()) continue;
    print_to_stderr(text("softnpu: exit: no call has reported this failure of stream ",
                         stream->id(), ": ", in_one_line(failure.message()), " [", failure.rule(),
                         "]\n"));
  }
}

// A destructor of the library runs after all atexit() handlers, even those that were registered
// before the library was loaded; such handlers often finalise the device.
[[gnu::destructor]] void end_of_process() {
  try {
    report_unfetched_failures();
  } catch (...) {  // out of memory: nothing can be reported
  }
  notify(&Observer::ending);
}

}  // namespace
}  // namespace softnpu::runtime
