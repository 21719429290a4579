# tidemark_precompile(TARGET HEADERS...): what most C++ files of the target include is parsed once. Each file includes
#   what it needs all the same: clang-tidy and builds with a compiler launcher see it without.
# Not with a launcher: ccache takes precompiled headers only where it is told to be less strict.
# CMAKE_DISABLE_PRECOMPILE_HEADERS=ON leaves them out elsewhere.
function(tidemark_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
