// SPDX-License-Identifier: Apache-2.0
// Whether the program still does something by itself.
#pragma once

namespace softnpu::checkers {

// Waits until all other threads of the process sleep, but not for long. A function of the program's
// that begins then does so as late as on a busy device: what the program does meanwhile without
// waiting for the function is done before it, in each run.
void wait_until_others_sleep();

}  // namespace softnpu::checkers
