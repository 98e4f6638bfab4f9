// SPDX-License-Identifier: Apache-2.0
// Memory that runs out within a call of the C API.
#pragma once

namespace fuzz {

// From now on the calling thread's calls of the C API get so many blocks, and then none once.
void run_short_after(int blocks);
// All that is asked for again.
void end_shortage();
// Whether memory ran out since forget_shortages().
bool ran_short();
void forget_shortages();
unsigned long shortages();  // so far

// In the next call of a function, any thread gets so many blocks, and then none: once, or to the
// end of the call.
void fail_within(const char* function, int blocks, bool all_others);
// Whether it came to that. No call fails from now on.
bool end_failing();
// What that call gave: its status, 0 if it gives none.
void note_status(const char* function, int status);
int failing_status();
long live_blocks();  // those of malloc()

// While a call of the C API runs; the harness itself always gets memory.
class Within {
 public:
  explicit Within(const char* function);
  ~Within();
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
};

}  // namespace fuzz
