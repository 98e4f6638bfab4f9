# SPDX-License-Identifier: Apache-2.0
# The extension softnpu._core, and the data files of the Python package.

# pip unpacks nanobind anew for every installation, under another path. To compile from there would
# compile everything each time, so its files are copied, and only those that have changed.
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir COMMAND_ERROR_IS_FATAL ANY
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_cmake)
cmake_path(GET nanobind_cmake PARENT_PATH nanobind_source)
set(nanobind_copy "${CMAKE_CURRENT_BINARY_DIR}/nanobind")
foreach(folder cmake ext include src)
  file(GLOB_RECURSE files RELATIVE "${nanobind_source}" "${nanobind_source}/${folder}/*")
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH parent)
    file(MAKE_DIRECTORY "${nanobind_copy}/${parent}")
    file(COPY_FILE "${nanobind_source}/${file}" "${nanobind_copy}/${file}" ONLY_IF_DIFFERENT)
  endforeach()
endforeach()
find_package(nanobind CONFIG REQUIRED PATHS "${nanobind_copy}/cmake" NO_DEFAULT_PATH)

file(GLOB binding_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/*.cpp")
# Function names stay in, as in the libraries.
nanobind_add_module(_core NOMINSIZE NOSTRIP ${binding_sources})
target_include_directories(_core PRIVATE "${SOFTNPU_GENERATED}/bindings")
target_link_libraries(_core PRIVATE softnpu_options opapi nnopbase ascendcl softnpu)
target_compile_options(_core PRIVATE -fno-math-errno)
set_target_properties(_core PROPERTIES INSTALL_RPATH "$ORIGIN/sdk/lib64")
install(TARGETS _core LIBRARY DESTINATION softnpu)

# `softnpu ops` prints the descriptions; `softnpu verify` takes names from them.
file(GLOB descriptions CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/operators/*.toml")
install(FILES ${descriptions} DESTINATION softnpu/operators)
install(DIRECTORY "${SOFTNPU_GENERATED}/package/" DESTINATION softnpu)
