# SPDX-License-Identifier: Apache-2.0
# tessera_add_module(NAME [PUBLIC_DEPS ...] [PRIVATE_DEPS ...]): folder = namespace = target Tessera::NAME.
# Sources are src/**/*.cpp; public headers lie in include/tessera/NAME/.
function(tessera_add_module NAME)
  cmake_parse_arguments(M "" "" "PUBLIC_DEPS;PRIVATE_DEPS;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp)
  foreach(skip ${M_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "${skip}")
  endforeach()
  if(NOT sources)
    add_library(tessera_${NAME} INTERFACE)
    add_library(Tessera::${NAME} ALIAS tessera_${NAME})
    return()
  endif()
  add_library(tessera_${NAME} ${sources})
  add_library(Tessera::${NAME} ALIAS tessera_${NAME})
  set_target_properties(tessera_${NAME} PROPERTIES EXPORT_NAME ${NAME}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(tessera_${NAME}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_compile_features(tessera_${NAME} PUBLIC cxx_std_20)
  # Private parts stay out of the exported target: whoever links Tessera need not have their headers.
  set(private_deps ${M_PRIVATE_DEPS})
  list(TRANSFORM private_deps REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(tessera_${NAME} PUBLIC ${M_PUBLIC_DEPS} PRIVATE $<BUILD_INTERFACE:tessera_flags> ${private_deps})
  if("OpenMP::OpenMP_CXX" IN_LIST M_PRIVATE_DEPS)
    tessera_precompile_standard(tessera_${NAME} OWN)
  else()
    tessera_precompile_standard(tessera_${NAME})
  endif()
  tessera_compile_together(tessera_${NAME})
  set_property(GLOBAL APPEND PROPERTY TESSERA_MODULES ${NAME})
endfunction()

# tessera_precompile_standard(TARGET [OWN]): the standard library from a header compiled once for all modules and once for all
# programs, or, for a target with other flags than theirs, once for the target. (g++ takes what was compiled with fewer
# definitions, not with more.)
set(TESSERA_STANDARD_HEADERS <algorithm> <array> <cmath> <complex> <cstring> <filesystem> <fstream> <functional> <limits> <map>
    <memory> <numbers> <optional> <random> <set> <span> <sstream> <string> <tuple> <unordered_map> <variant> <vector>)
function(tessera_precompile_standard TARGET)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if("OWN" IN_LIST ARGN)
    target_precompile_headers(${TARGET} PRIVATE ${TESSERA_STANDARD_HEADERS})
  else()
    get_target_property(type ${TARGET} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set(common tessera_standard_programs)
      set(code -fPIE)
    else()
      set(common tessera_standard_modules)
      set(code -fPIC)
    endif()
    if(NOT TARGET ${common})
      tessera_add_precompiled(${common} ${code})
      target_precompile_headers(${common} PRIVATE ${TESSERA_STANDARD_HEADERS})
    endif()
    target_precompile_headers(${TARGET} REUSE_FROM ${common})
  endif()
  tessera_cache_precompiled(${TARGET})
endfunction()

# tessera_add_precompiled(NAME FLAG...): nothing but a header compiled with our flags and these.
function(tessera_add_precompiled NAME)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/precompiled.cpp CONTENT "" @ONLY)
  add_library(${NAME} OBJECT ${PROJECT_BINARY_DIR}/generated/precompiled.cpp)
  target_link_libraries(${NAME} PRIVATE tessera_flags)
  target_compile_options(${NAME} PRIVATE ${ARGN})
  tessera_cache_precompiled(${NAME})
endfunction()

# tessera_compile_together(TARGET): the sources of a folder are compiled in groups of some 64 kB, each as one
# (docs/decisions/0006-build-time.md). A name in an unnamed namespace is therefore its folder's only one. Operations, kernels and
# what has flags of its own are compiled one by one; so is everything without TESSERA_COMPILE_TOGETHER.
function(tessera_compile_together TARGET)
  if(NOT TESSERA_COMPILE_TOGETHER)
    return()
  endif()
  get_target_property(sources ${TARGET} SOURCES)
  set(group 0)
  set(group_folder "")
  set(group_bytes 0)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE place)
    if(place MATCHES "/(kernels|ops|generated)$")
      continue()
    endif()
    file(SIZE ${source} bytes)
    math(EXPR group_bytes "${group_bytes} + ${bytes}")
    if(NOT folder STREQUAL group_folder OR group_bytes GREATER 65536)
      math(EXPR group "${group} + 1")
      set(group_folder ${folder})
      set(group_bytes ${bytes})
    endif()
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${TARGET}_${group})
  endforeach()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # an Impl may hold what its source has in an unnamed namespace: no other sees it
    target_compile_options(${TARGET} PRIVATE -Wno-subobject-linkage)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # false alarms on strings, GCC PR 105651; alone, sources are warned of both
      target_compile_options(${TARGET} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
    endif()
  endif()
endfunction()

# tessera_optimise_for_compile_time(TARGET): glue that waits for libraries and disks (docs/decisions/0006-build-time.md).
function(tessera_optimise_for_compile_time TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# tessera_add_tests(NAME [LABEL label] [DEPS ...]): every tests/NAME/*_test.cpp in one program, each test case one ctest entry.
function(tessera_add_tests NAME)
  cmake_parse_arguments(T "" "LABEL" "DEPS" ${ARGN})
  if(NOT T_LABEL)
    set(T_LABEL unit)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${NAME}_tests ${sources})
  target_include_directories(${NAME}_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support ${CMAKE_CURRENT_SOURCE_DIR}/..
    ${PROJECT_BINARY_DIR}/generated/tests)
  target_link_libraries(${NAME}_tests PRIVATE tessera_flags GTest::gtest_main ${T_DEPS})
  tessera_optimise_for_tests(${NAME}_tests)
  tessera_use_precompiled(${NAME}_tests)
  tessera_compile_together(${NAME}_tests)
  # Suites with Peer in their names run other programs where there are any, and wait for them.
  gtest_discover_tests(${NAME}_tests TEST_FILTER "-*Peer*" PROPERTIES LABELS ${T_LABEL} DISCOVERY_TIMEOUT 60)
  gtest_discover_tests(${NAME}_tests TEST_FILTER "*Peer*" TEST_LIST ${NAME}_peer_tests PROPERTIES LABELS peer DISCOVERY_TIMEOUT 60)
endfunction()

# tessera_optimise_for_tests(TARGET): a test is compiled more often than it is run (docs/decisions/0006-build-time.md).
# A source with a kernel body in it is compiled as its module is, or it would test other instructions than are shipped.
function(tessera_optimise_for_tests TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-Og>)
  get_target_property(sources ${TARGET} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    file(STRINGS ${source} kernels REGEX "^#include \".*/src/kernels/")
    if(kernels)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# tessera_use_precompiled(TARGET): the standard library and GoogleTest from a header compiled once for all test programs.
# None of our own headers is precompiled: a touched one rebuilds what includes it and no more, and g++ gives the same file
# in every checkout, so that ccache shares the objects made with it.
function(tessera_use_precompiled TARGET)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(NOT TARGET tessera_precompiled)
    tessera_add_precompiled(tessera_precompiled $<$<CONFIG:Release>:-Og> -fPIE)  # as the programs are
    target_link_libraries(tessera_precompiled PRIVATE GTest::gtest)
    target_precompile_headers(tessera_precompiled PRIVATE <gtest/gtest.h> ${TESSERA_STANDARD_HEADERS})
  endif()
  target_precompile_headers(${TARGET} REUSE_FROM tessera_precompiled)
  tessera_cache_precompiled(${TARGET})
endfunction()

# What ccache asks for before it stores what was compiled with a precompiled header.
function(tessera_cache_precompiled TARGET)
  target_compile_options(${TARGET} PRIVATE -fpch-preprocess)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${TARGET} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()
