# SPDX-License-Identifier: Apache-2.0
# Writes build_info.cpp: what the configure step knows, and, at each build, the commit the sources are at.
# Run as a script (cmake -P) it does the second half; the file changes, and is compiled, only when its content does.
if(CMAKE_SCRIPT_MODE_FILE)
  set(git_hash "")
  set(git_dirty false)
  if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE git_hash ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changed
      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(changed)
      set(git_dirty true)
    endif()
  endif()
  configure_file(${IN} ${OUT} @ONLY)
  return()
endif()

find_package(Git QUIET)
get_property(TESSERA_PARTS_ROWS GLOBAL PROPERTY TESSERA_PARTS_ROWS)
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
get_target_property(flags tessera_flags INTERFACE_COMPILE_OPTIONS)
string(REGEX MATCHALL "-[a-zA-Z][^;>]*" flags "${flags}")
list(FILTER flags EXCLUDE REGEX "^-W")
list(JOIN flags " " flags)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${flags}" build_flags)
# First half: everything but the commit.
set(git_hash "@git_hash@")
set(git_dirty "@git_dirty@")
configure_file(${PROJECT_SOURCE_DIR}/cmake/build_info.cpp.in ${PROJECT_BINARY_DIR}/generated/build_info.cpp.in @ONLY)
add_custom_target(tessera_build_info
  COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DIN=${PROJECT_BINARY_DIR}/generated/build_info.cpp.in -DOUT=${PROJECT_BINARY_DIR}/generated/build_info.cpp
    -P ${CMAKE_CURRENT_LIST_FILE}
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/build_info.cpp
  COMMENT "Commit of the sources")
target_sources(tessera_data PRIVATE ${PROJECT_BINARY_DIR}/generated/build_info.cpp)
set_source_files_properties(${PROJECT_BINARY_DIR}/generated/build_info.cpp TARGET_DIRECTORY tessera_data PROPERTIES GENERATED ON)
add_dependencies(tessera_data tessera_build_info)
