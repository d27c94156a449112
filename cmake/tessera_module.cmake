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
  set_property(GLOBAL APPEND PROPERTY TESSERA_MODULES ${NAME})
endfunction()

# tessera_add_tests(NAME [DEPS ...]): every tests/NAME/*_test.cpp in one program, each test case one ctest entry.
function(tessera_add_tests NAME)
  cmake_parse_arguments(T "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${NAME}_tests ${sources})
  target_include_directories(${NAME}_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support ${CMAKE_CURRENT_SOURCE_DIR}/..)
  target_link_libraries(${NAME}_tests PRIVATE tessera_flags GTest::gtest_main ${T_DEPS})
  target_compile_definitions(${NAME}_tests PRIVATE
    TESSERA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TESSERA_BINARY_DIR="${PROJECT_BINARY_DIR}"
    TESSERA_DEFAULT_TEST_DATA="${PROJECT_SOURCE_DIR}/../shared/data")
  gtest_discover_tests(${NAME}_tests PROPERTIES LABELS unit DISCOVERY_TIMEOUT 60)
endfunction()
