# SPDX-License-Identifier: Apache-2.0
# Compiler flags and output folders for every target of ours.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# An installed program finds the libraries beside it wherever the tree is moved.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" "$ORIGIN")

# Two build types beside CMake's own: optimised enough to run the whole test suite, with exact stacks.
# Plain variables: project() has put empty ones of these names into the cache already.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_C_FLAGS_SANITIZE ${CMAKE_CXX_FLAGS_SANITIZE})
set(CMAKE_CXX_FLAGS_COVERAGE "-O0 -g --coverage -fprofile-update=atomic")
set(CMAKE_C_FLAGS_COVERAGE ${CMAKE_CXX_FLAGS_COVERAGE})

# Third-party configurations know only Release and Debug.
set(CMAKE_MAP_IMPORTED_CONFIG_SANITIZE "" Release RelWithDebInfo None NoConfig)
set(CMAKE_MAP_IMPORTED_CONFIG_COVERAGE "" Release RelWithDebInfo None NoConfig)

# A program is linked again when its own sources or headers change, not when a library that it loads does.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TESSERA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${TESSERA_CCACHE})
endif()

set(TESSERA_SANITIZE "" CACHE STRING "e.g. address,undefined or thread")

add_library(tessera_flags INTERFACE)
# -ffp-contract=off and no -ffast-math: a value never depends on how a loop was vectorised. Complex
# products g++ joins with the sums behind them all the same: autodiff/src/kernels/scalar.h, rounded.
# -fno-tree-slp-vectorize: with it g++ 12 drops the rounding of a pair of doubles to float and back
# (VmathComplex.CompilerKeepsRoundingToFloat shows it); loops are vectorised all the same.
target_compile_options(tessera_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-tree-slp-vectorize>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-missing-field-initializers;-ffp-contract=off;-fno-math-errno;-fno-trapping-math>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tessera_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-maybe-uninitialized>)  # false alarms on strings, GCC PR 105651, 105562
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # half a GiB before the compiler collects its garbage: few sources reach it (docs/decisions/0006)
  target_compile_options(tessera_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=524288>")
endif()
if(TESSERA_ARCH)
  target_compile_options(tessera_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${TESSERA_ARCH}>)
endif()
target_compile_definitions(tessera_flags INTERFACE
  $<$<BOOL:${TESSERA_CHECKS}>:TESSERA_CHECKS> $<$<BOOL:${TESSERA_STD_THREADS}>:TESSERA_STD_THREADS>)

# Hardening of what users run: stack and heap-copy checks, read-only relocations, control-flow marks.
# (Position-independent executables come from CMAKE_POSITION_INDEPENDENT_CODE above.)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2;-fstack-protector-strong;-fstack-clash-protection;-fno-semantic-interposition>)
  target_link_options(tessera_flags INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()

if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TESSERA_SANITIZE};-fno-sanitize-recover=all>)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
