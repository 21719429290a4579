# Writes the source behind build_version(); run at each build, leaves the file alone when nothing changed.
include("${CMAKE_CURRENT_LIST_DIR}/tree_hash.cmake")
tree_hash("${SOURCE}/kernels" kernels)
tree_hash("${SOURCE}/suite" suite)
if(NOT GIT_HASH)
  execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE GIT_HASH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT GIT_HASH)
  set(GIT_HASH "unknown")
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT [[
#include "harness/version.hpp"

namespace tidemark {

BuildVersion build_version() {
  return {.description = "@DESCRIPTION@", .version = "@VERSION@", .git_hash = "@GIT_HASH@", .kernels_tree = "@kernels@", .suite_tree = "@suite@",
          .nvcc = "@NVCC@", .compiler = "@CXX@", .hdf5 = "@HDF5@",
          .cuda = @WITH_CUDA@, .nccl = @WITH_NCCL@, .mpi = @WITH_MPI@};
}

}  // namespace tidemark
]])
