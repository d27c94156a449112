# SPDX-License-Identifier: Apache-2.0
# Fails with the first differences of the files that clang-format would change.
set(VERSION 14)  # of Debian 12
if(NOT CLANG_FORMAT)
  message("not compared: there is no clang-format (Debian package clang-format)")
  return()
endif()
execute_process(COMMAND ${CLANG_FORMAT} --version OUTPUT_VARIABLE said)
if(NOT said MATCHES "version ${VERSION}\\.")
  string(STRIP "${said}" said)
  message("not compared: sources follow clang-format ${VERSION}, here is ${said}")
  return()
endif()

set(sources)
foreach(folder apps autodiff data docs electromagnetics inversion molecular parallel solvers tests)
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cu ${ROOT}/${folder}/*.cuh ${ROOT}/${folder}/*.inl)
  list(APPEND sources ${found})
endforeach()
list(LENGTH sources count)
if(count LESS 500)
  message(FATAL_ERROR "only ${count} sources found below ${ROOT}")
endif()
execute_process(COMMAND ${CLANG_FORMAT} --dry-run --Werror --ferror-limit=1 ${sources}
  WORKING_DIRECTORY ${ROOT} RESULT_VARIABLE code ERROR_VARIABLE differences)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "differ from .clang-format; run: clang-format -i FILE\n${differences}")
endif()
message("${count} sources are as clang-format writes them")
