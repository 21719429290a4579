# tidemark_test(NAME TIER [SOURCES...] [LIBRARIES...] [CROWDED filter]): one GoogleTest program.
#   TIER unit: needs nothing. gpu: needs one sm_90 GPU, is skipped without. mpi: starts mpirun itself.
#   CROWDED: tests of many processes or threads: one of them runs at a time, beside one other test.
# tidemark_headers(TARGET DIRS...): every header there must compile alone
#   (target all_verify_interface_header_sets).
find_package(GTest)
include(GoogleTest)

function(tidemark_test name tier)
  if(NOT GTest_FOUND)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CROWDED;TIMEOUT" "SOURCES;LIBRARIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # some eight times as slow
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE tidemark_flags ${arg_LIBRARIES} GTest::gtest)
  # What a test calls is optimised in its own library; optimising the tests doubles their compile time.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  tidemark_precompile(${name} <gtest/gtest.h> <fmt/format.h> <algorithm> <filesystem> <fstream> <map>)
  if(NOT tier STREQUAL "mpi")
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  if(arg_CROWDED)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." TEST_FILTER "${arg_CROWDED}"
      PROPERTIES LABELS ${tier} TIMEOUT ${arg_TIMEOUT} RESOURCE_LOCK crowd PROCESSORS 2 COST 1000)
    set(others TEST_FILTER "-${arg_CROWDED}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." ${others}
    PROPERTIES LABELS ${tier} TIMEOUT ${arg_TIMEOUT})
endfunction()

function(tidemark_headers target)
  set(headers "")
  foreach(dir IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${dir}/*.hpp")
    list(APPEND headers ${found})
  endforeach()
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
endfunction()
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
