# What every target compiles with.
add_library(tidemark_flags INTERFACE)
target_compile_features(tidemark_flags INTERFACE cxx_std_20)
target_include_directories(tidemark_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(tidemark_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TIDEMARK_WERROR}>>:-Werror>)
target_compile_definitions(tidemark_flags INTERFACE FMT_HEADER_ONLY=1)
set(CMAKE_CXX_EXTENSIONS OFF)
# Line numbers and functions are what a backtrace needs; full -g makes each file a fifth slower to compile.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
