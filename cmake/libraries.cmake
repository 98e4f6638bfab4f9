# SPDX-License-Identifier: Apache-2.0
# libsoftnpu.so holds all state and all kernels. The documented libraries hold entry points alone,
# so that it does not matter which of them, or how many, a process loads.
file(GLOB core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/base/*.cpp" "${PROJECT_SOURCE_DIR}/core/tensor/*.cpp" "${PROJECT_SOURCE_DIR}/core/runtime/*.cpp"
     "${PROJECT_SOURCE_DIR}/core/memory/*.cpp" "${PROJECT_SOURCE_DIR}/core/loops/*.cpp" "${PROJECT_SOURCE_DIR}/core/executor/*.cpp"
     "${PROJECT_SOURCE_DIR}/core/checkers/*.cpp" "${PROJECT_SOURCE_DIR}/core/observers/*.cpp"
     "${PROJECT_SOURCE_DIR}/core/described/*.cpp")
list(FILTER core_sources EXCLUDE REGEX "/api_[a-z_]*\\.cpp$")
list(APPEND core_sources "${PROJECT_SOURCE_DIR}/core/kernels/dispatch.cpp")
file(GLOB everyday_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/everyday/*.cpp")
list(FILTER everyday_sources EXCLUDE REGEX "/api_[a-z_]*\\.cpp$")
list(APPEND everyday_sources "${SOFTNPU_GENERATED}/core/everyday/table.cpp")
file(GLOB runtime_entries CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/runtime/api_*.cpp")
file(GLOB base_entries CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/tensor/api_*.cpp" "${PROJECT_SOURCE_DIR}/core/executor/api_*.cpp")
file(GLOB operator_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/ops/*.cpp" "${PROJECT_SOURCE_DIR}/core/everyday/api_*.cpp")
list(APPEND operator_sources "${SOFTNPU_GENERATED}/core/ops/operators.cpp"
     "${SOFTNPU_GENERATED}/core/everyday/entries.cpp")

# Sanitizers leave their own symbols to the program.
if(NOT SOFTNPU_SANITIZE)
  set(no_undefined -Wl,--no-undefined)
endif()

# dlclose() must not unmap what handles stand for: executors and queued work call into the library
# that made them, and so does the handler of every fork() to come.
set(stay_loaded -Wl,-z,nodelete)

# Most of these loops convert elements or call functions of libm: -O2 gains little, and takes half as
# long again to compile. Products are loops of multiplications.
add_library(softnpu_everyday OBJECT ${everyday_sources})
target_link_libraries(softnpu_everyday PRIVATE softnpu_options)
target_compile_options(softnpu_everyday PRIVATE -fwrapv $<$<CONFIG:Release>:-O1>)
set_source_files_properties(
  "${PROJECT_SOURCE_DIR}/core/everyday/products.cpp" "${PROJECT_SOURCE_DIR}/core/everyday/reductions.cpp"
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")

add_library(softnpu SHARED ${SOFTNPU_KERNEL_OBJECTS} ${core_sources} "${PROJECT_SOURCE_DIR}/core/start.cpp"
            $<TARGET_OBJECTS:softnpu_everyday>)
target_link_libraries(softnpu PRIVATE softnpu_options Threads::Threads)
set_target_properties(softnpu PROPERTIES UNITY_BUILD_MODE GROUP)
# Formulas of integers are computed modulo 2^64.
target_compile_options(softnpu PRIVATE -fwrapv)
foreach(source IN LISTS core_sources)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME folder)
  set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder})
endforeach()
target_link_options(softnpu PRIVATE ${no_undefined} ${stay_loaded})

function(add_documented_library name)
  add_library(${name} SHARED ${ARGN})
  target_link_libraries(${name} PRIVATE softnpu_options softnpu)
  # Clients look symbols up through one library's handle and rely on its dependencies.
  target_link_options(${name} PRIVATE -Wl,--no-as-needed ${no_undefined} ${stay_loaded})
endfunction()

add_library(softnpu_runtime_entries OBJECT ${runtime_entries})
target_link_libraries(softnpu_runtime_entries PRIVATE softnpu_options)
# All libraries of the runtime have all of its functions, for the same reason as those of operators.
set(runtime_libraries ascendcl acl_rt acl_op_compiler runtime msprofiler)
foreach(name IN LISTS runtime_libraries)
  add_documented_library(${name} $<TARGET_OBJECTS:softnpu_runtime_entries>)
endforeach()

add_documented_library(nnopbase ${base_entries})
target_link_libraries(nnopbase PRIVATE ascendcl)

# Communication between processes is no part of the device.
file(GLOB hccl_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/hccl/*.cpp")
add_documented_library(hccl ${hccl_sources})
target_link_libraries(hccl PRIVATE ascendcl)

# Every operator library has every operator: which one holds which differs between releases.
add_library(softnpu_operators OBJECT ${operator_sources})
target_link_libraries(softnpu_operators PRIVATE softnpu_options)
set(operator_libraries opapi opapi_nn opapi_cv opapi_math aclnn_math aclnn_ops_infer aclnn_ops_train)
foreach(name IN LISTS operator_libraries)
  add_documented_library(${name} $<TARGET_OBJECTS:softnpu_operators>)
  target_link_libraries(${name} PRIVATE nnopbase)
endforeach()

# What `softnpu run --explain-missing` loads before a program: no part of the device. It must leave
# its functions by jumps in every kind of build, and need no library that the program does not have.
add_library(softnpu_missing SHARED "${PROJECT_SOURCE_DIR}/core/explain/missing.cpp")
target_include_directories(softnpu_missing PRIVATE "${PROJECT_SOURCE_DIR}/core")
target_compile_options(softnpu_missing PRIVATE -Wall -Wextra -fno-exceptions -O2 -foptimize-sibling-calls)
target_link_options(softnpu_missing PRIVATE -Wl,--as-needed -Wl,--no-undefined ${stay_loaded})
target_link_libraries(softnpu_missing PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(softnpu_missing PROPERTIES OUTPUT_NAME missing LIBRARY_OUTPUT_DIRECTORY
                      "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/softnpu")

# What `softnpu check` loads before a program.
add_library(softnpu_checked SHARED "${PROJECT_SOURCE_DIR}/core/explain/checked.cpp")
target_include_directories(softnpu_checked PRIVATE "${PROJECT_SOURCE_DIR}/core")
target_compile_options(softnpu_checked PRIVATE -Wall -Wextra -fexceptions -O2 -U_FORTIFY_SOURCE)
target_link_options(softnpu_checked PRIVATE -Wl,--as-needed -Wl,--no-undefined ${stay_loaded})
target_link_libraries(softnpu_checked PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(softnpu_checked PROPERTIES OUTPUT_NAME checked LIBRARY_OUTPUT_DIRECTORY
                      "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/softnpu")

set(SOFTNPU_SDK softnpu/sdk)
install(TARGETS softnpu ${runtime_libraries} nnopbase hccl ${operator_libraries}
        LIBRARY DESTINATION ${SOFTNPU_SDK}/lib64)
install(TARGETS softnpu_missing softnpu_checked LIBRARY DESTINATION ${SOFTNPU_SDK}/lib64/softnpu)
install(DIRECTORY "${SOFTNPU_INCLUDE}/" DESTINATION ${SOFTNPU_SDK}/include)
# What operators from outside of softnpu are compiled against.
foreach(folder IN ITEMS base tensor executor described runtime softnpu)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/${folder}" DESTINATION ${SOFTNPU_SDK}/core FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/sdk/set_env.sh" DESTINATION ${SOFTNPU_SDK})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/sdk/python/site-packages/"
        DESTINATION ${SOFTNPU_SDK}/python/site-packages PATTERN __pycache__ EXCLUDE)

# Other builds find the SDK by these. CMake looks into share/ of every prefix, but not into lib64/.
include(CMakePackageConfigHelpers)
set(generated "${CMAKE_CURRENT_BINARY_DIR}/packages")
list(JOIN operator_libraries " " operator_libraries)
list(JOIN runtime_libraries " " runtime_libraries)
configure_file("${PROJECT_SOURCE_DIR}/sdk/softnpuConfig.cmake.in" "${generated}/softnpuConfig.cmake" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/sdk/softnpu.pc.in" "${generated}/softnpu.pc" @ONLY)
write_basic_package_version_file("${generated}/softnpuConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${generated}/softnpuConfig.cmake" "${generated}/softnpuConfigVersion.cmake"
        DESTINATION ${SOFTNPU_SDK}/share/cmake/softnpu)
install(FILES "${generated}/softnpu.pc" DESTINATION ${SOFTNPU_SDK}/lib64/pkgconfig)
