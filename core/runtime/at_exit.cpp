// SPDX-License-Identifier: Apache-2.0
// The end of the process.
#include "base/lines.h"
#include "base/observer.h"
#include "base/text.h"
#include "runtime/stream.h"

namespace softnpu::runtime {
namespace {

// One line for each stream. Nothing is waited for: what runs now may never end.
void report_unfetched_failures() {
  for (const auto& stream : streams_at_exit()) {
    const Status failure = stream->unfetched_failure();
    if (failure.ok()) continue;
    print_to_stderr(text("softnpu: exit: no call has reported this failure of stream ",
                         stream->id(), ": ", in_one_line(failure.message()), " [", failure.rule(),
                         "]\n"));
  }
}

// A destructor of the library runs after all handlers of atexit(), also those that the program
// registered before the library was loaded: such handlers often end the use of the device.
[[gnu::destructor]] void end_of_process() {
  try {
    report_unfetched_failures();
  } catch (...) {  // no memory: there is nobody left to tell
  }
  notify(&Observer::ending);
}

}  // namespace
}  // namespace softnpu::runtime
