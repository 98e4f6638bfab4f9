# SPDX-License-Identifier: Apache-2.0
# Kernel sources are compiled once for each instruction set, into a namespace of its name. The rest
# of the library is never compiled for more than the baseline.
set(SOFTNPU_LEVELS native CACHE STRING
    "Instruction sets beside the baseline: all; native, the best of this machine; or baseline, none")
set(levels baseline)
set(flags_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(flags_avx2 -mavx2 -mfma -mf16c)
  set(flags_avx512 -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl
                   -mprefer-vector-width=512)
  # gcc 12 takes what its own headers leave undefined on purpose for a mistake.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND flags_avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  if(SOFTNPU_LEVELS STREQUAL "all")
    list(APPEND levels avx2 avx512)
  elseif(NOT SOFTNPU_LEVELS STREQUAL "baseline")
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -march=native -dM -E -x c++ /dev/null
                    OUTPUT_VARIABLE macros ERROR_QUIET)
    if(macros MATCHES "__AVX512BW__" AND macros MATCHES "__AVX512DQ__" AND macros MATCHES "__AVX512VL__")
      list(APPEND levels avx512)
    elseif(macros MATCHES "__AVX2__" AND macros MATCHES "__FMA__" AND macros MATCHES "__F16C__")
      list(APPEND levels avx2)
    endif()
  endif()
endif()

file(GLOB kernel_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/kernels/*.cpp")
list(FILTER kernel_sources EXCLUDE REGEX "dispatch\\.cpp$")

# The baseline comes first: where two levels emit the same inline function of the standard library,
# the linker keeps the first, which every machine can run.
set(SOFTNPU_KERNEL_OBJECTS "")
set(level_definitions "")
foreach(level IN LISTS levels)
  string(TOUPPER "SOFTNPU_HAS_${level}" definition)
  list(APPEND level_definitions ${definition})
  add_library(softnpu_kernels_${level} OBJECT ${kernel_sources})
  target_link_libraries(softnpu_kernels_${level} PRIVATE softnpu_options)
  # Each by itself, for all cores: here formulas take the time, and headers little of it.
  set_target_properties(softnpu_kernels_${level} PROPERTIES UNITY_BUILD OFF)
  target_compile_definitions(softnpu_kernels_${level} PRIVATE SOFTNPU_LEVEL=${level})
  # -O3 and -fno-trapping-math are what gcc 12 needs to vectorise the formulas' selections.
  # Loops begin with a line of memory, as functions do: half a line off, smooth_l1 of float32 in
  # cache takes 7 % more time. Clang warns of loops that it leaves scalar.
  target_compile_options(softnpu_kernels_${level} PRIVATE
    $<$<CONFIG:Release>:-O3> -fno-math-errno -fno-trapping-math -falign-loops=64
    $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed> ${flags_${level}})
  list(APPEND SOFTNPU_KERNEL_OBJECTS $<TARGET_OBJECTS:softnpu_kernels_${level}>)
endforeach()
set_source_files_properties("${PROJECT_SOURCE_DIR}/core/kernels/dispatch.cpp" PROPERTIES
                            COMPILE_DEFINITIONS "${level_definitions}" SKIP_UNITY_BUILD_INCLUSION ON)
