// SPDX-License-Identifier: Apache-2.0
// Task groups: captured work whose arguments can be replaced after the capture.
#pragma once

#include "base/export.h"
#include "base/status.h"
#include "runtime/stream.h"
#include "runtime/work.h"

namespace softnpu::runtime {

// Work that the captured stream captures between the two belongs to the group. Its handle is valid
// as long as the graph.
SOFTNPU_EXPORT Status begin_task_group(const void* stream_handle);
SOFTNPU_EXPORT Status end_task_group(const void* stream_handle, void** out);

// Work that is launched in the stream between the two does not run: it replaces the group's, in
// order, when the update ends. Executions that are launched later run it.
SOFTNPU_EXPORT Status begin_task_update(const void* stream_handle, const void* group);
SOFTNPU_EXPORT Status end_task_update(const void* stream_handle);

// Takes work that was launched in a stream with an update; false if it has none.
bool take_for_update(const Stream& stream, Work& work);
// At the stream's end: gives up a task group, and an update, which changes nothing.
void drop_tasks(Stream& stream);
// Of destroyed graphs.
void forget_dead_groups();

}  // namespace softnpu::runtime
