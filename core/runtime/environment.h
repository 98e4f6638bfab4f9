// SPDX-License-Identifier: Apache-2.0
// What the runtime tells the user about the kernels. The rooms that own these facts are to the
// right of the runtime, so it knows only their names.
#pragma once

namespace softnpu::loops {
int thread_count();
}
namespace softnpu::kernels {
const char* active_level_name();
}
