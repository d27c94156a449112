# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=... -DCASE=... -DEXPECT=... -DROOT=... -P compile_fail.cmake
set(ENV{LC_ALL} C)  # messages in English with plain quotes
set(flags -std=c++20 -fsyntax-only)
foreach(folder autodiff/include autodiff/src data/include inversion/include)
  list(APPEND flags -I${ROOT}/${folder})
endforeach()
execute_process(COMMAND ${COMPILER} ${flags} ${CASE} RESULT_VARIABLE result ERROR_VARIABLE error)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the part that must compile does not:\n${error}")
endif()
execute_process(COMMAND ${COMPILER} ${flags} -DMUST_NOT_COMPILE ${CASE} RESULT_VARIABLE result ERROR_VARIABLE error)
if(result EQUAL 0)
  message(FATAL_ERROR "it compiled, and must not")
endif()
if(NOT error MATCHES "${EXPECT}")
  message(FATAL_ERROR "it was refused, but not with words that match '${EXPECT}':\n${error}")
endif()
