# What every target compiles with.
add_library(tidemark_flags INTERFACE)
target_compile_features(tidemark_flags INTERFACE cxx_std_20)
target_include_directories(tidemark_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(tidemark_flags INTERFACE
  # A switch that lacks a verb is no warning: the verb would do nothing there.
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror=switch>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TIDEMARK_WERROR}>>:-Werror>)
# fmt's own library: compiled into each file from its headers it would be three quarters of the build.
target_link_libraries(tidemark_flags INTERFACE tidemark_fmt)  # ci/cmake/TidemarkPortable.cmake
set(CMAKE_CXX_EXTENSIONS OFF)
# Line numbers and functions are what a backtrace needs; full -g makes each file a fifth slower to compile.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
