# SPDX-License-Identifier: Apache-2.0
# What follows from the descriptions in operators/ is generated when CMake configures, and again
# when one of them, or the generator, has changed.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter ${SOFTNPU_PYTHON_COMPONENTS})
set(SOFTNPU_GENERATED "${PROJECT_BINARY_DIR}/generated")
set(package "${PROJECT_SOURCE_DIR}/src/softnpu")
execute_process(COMMAND "${Python_EXECUTABLE}" -B "${package}/codegen" "${PROJECT_SOURCE_DIR}/operators" "${package}"
                        "${SOFTNPU_GENERATED}" COMMAND_ERROR_IS_FATAL ANY)
# All headers of the SDK together, as they include each other.
set(SOFTNPU_INCLUDE "${PROJECT_BINARY_DIR}/sdk/include")
file(COPY "${PROJECT_SOURCE_DIR}/include/" "${SOFTNPU_GENERATED}/include/" DESTINATION "${SOFTNPU_INCLUDE}")
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/operators/*.toml" "${package}/codegen/*.py"
     "${package}/*.py.in" "${PROJECT_SOURCE_DIR}/include/*.h")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
