# Compiler flags and output folders for every target of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TESSERA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${TESSERA_CCACHE})
endif()

add_library(tessera_flags INTERFACE)
# -ffp-contract=off and no -ffast-math: a value never depends on how a loop was vectorised.
target_compile_options(tessera_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-missing-field-initializers;-ffp-contract=off;-fno-math-errno;-fno-trapping-math>)
if(TESSERA_ARCH)
  target_compile_options(tessera_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${TESSERA_ARCH}>)
endif()
target_compile_definitions(tessera_flags INTERFACE
  $<$<BOOL:${TESSERA_CHECKS}>:TESSERA_CHECKS> $<$<BOOL:${TESSERA_STD_THREADS}>:TESSERA_STD_THREADS>)

set(TESSERA_SANITIZE "" CACHE STRING "e.g. address,undefined or thread")
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
