# tidemark_precompile(TARGET HEADERS...): what most C++ files of the target include is parsed once. Each file includes
#   what it needs all the same: clang-tidy and builds with a compiler launcher see it without.
# Not with a launcher: ccache takes precompiled headers only where it is told to be less strict.
option(TIDEMARK_PRECOMPILE "Precompile headers that most files include (never with a compiler launcher)" ON)

function(tidemark_precompile target)
  if(NOT TIDEMARK_PRECOMPILE OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
