# SPDX-License-Identifier: Apache-2.0
# What users run holds no code for graphics processors that nothing calls, and needs none of their libraries.
foreach(file ${FILES})
  execute_process(COMMAND readelf --wide --dynamic --section-headers ${file} OUTPUT_VARIABLE said RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "readelf could not read ${file}")
  endif()
  if(said MATCHES "NEEDED[^\n]*(libcuda|libnccl|libnv)" OR said MATCHES "nv_fatbin|nvFatBin")
    message(FATAL_ERROR "${file} was linked with device code: ${CMAKE_MATCH_0}")
  endif()
endforeach()
