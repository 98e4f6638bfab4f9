// SPDX-License-Identifier: Apache-2.0
// Device memory that processes share by keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

// Waits for the devices first. Whole pages are shared, so that an importing process can reach
// neighbours of a small allocation.
SOFTNPU_EXPORT Status export_memory(const void* address, size_t size, bool is_for_all,
                                    std::string& key);
// Adds processes to those that may import the memory.
SOFTNPU_EXPORT Status allow_processes(const std::string& key, std::span<const int32_t> processes);
SOFTNPU_EXPORT Status import_memory(const std::string& key, void** out);
// Ends one import, or the export. Waits for the devices first.
SOFTNPU_EXPORT Status close_shared_memory(const std::string& key);
// The allocation is being freed.
void end_exports(const std::byte* base, size_t size);

}  // namespace softnpu::runtime
