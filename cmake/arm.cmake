# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for 64-bit Arm with the distribution's compiler (Debian: g++-aarch64-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
