# SPDX-License-Identifier: Apache-2.0
# The extension softnpu._core, and the data files of the Python package.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(nanobind CONFIG QUIET)
if(NOT nanobind_FOUND)
  # From a copy: pip puts nanobind into another folder each time, which would compile all anew.
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_cmake)
  cmake_path(GET nanobind_cmake PARENT_PATH nanobind_folder)
  file(COPY "${nanobind_folder}" DESTINATION "${CMAKE_CURRENT_BINARY_DIR}")
  cmake_path(GET nanobind_folder FILENAME nanobind_name)
  set(nanobind_ROOT "${CMAKE_CURRENT_BINARY_DIR}/${nanobind_name}/cmake")
  find_package(nanobind CONFIG REQUIRED)
endif()

file(GLOB binding_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/*.cpp")
nanobind_add_module(_core NOMINSIZE ${binding_sources})
target_link_libraries(_core PRIVATE softnpu_options opapi nnopbase ascendcl softnpu)
target_compile_options(_core PRIVATE -fno-math-errno)
set_target_properties(_core PROPERTIES INSTALL_RPATH "$ORIGIN/sdk/lib64")
install(TARGETS _core LIBRARY DESTINATION softnpu)

# The contract tables are the source of `softnpu ops NAME`.
file(GLOB contract_tables CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/contract/*.toml")
install(FILES ${contract_tables} DESTINATION softnpu/contracts)
