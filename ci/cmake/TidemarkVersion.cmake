# tidemark_version: a library with build_version() (harness/version.hpp), rewritten at each build so
# that the hashes are those of the tree that was compiled.
set(TIDEMARK_GIT_HASH "" CACHE STRING "Commit to record where the tree has no .git")
set(tidemark_version_source "${CMAKE_BINARY_DIR}/tidemark_version.cpp")
add_custom_target(tidemark_version_stamp ALL
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${tidemark_version_source} -DVERSION=${PROJECT_VERSION}
    "-DDESCRIPTION=${PROJECT_DESCRIPTION}"
    -DGIT_HASH=${TIDEMARK_GIT_HASH} -DNVCC=${CMAKE_CUDA_COMPILER_VERSION} -DCXX=${CMAKE_CXX_COMPILER_VERSION}
    -DWITH_CUDA=$<IF:$<BOOL:${TIDEMARK_WITH_CUDA}>,true,false> -DWITH_NCCL=$<IF:$<BOOL:${TIDEMARK_WITH_NCCL}>,true,false>
    -DWITH_MPI=$<IF:$<BOOL:${TIDEMARK_WITH_MPI}>,true,false> -DHDF5=${HDF5_VERSION}
    -P "${PROJECT_SOURCE_DIR}/ci/cmake/stamp_version.cmake"
  BYPRODUCTS "${tidemark_version_source}"
  COMMENT "Stamping version")
add_library(tidemark_version STATIC "${tidemark_version_source}")
add_dependencies(tidemark_version tidemark_version_stamp)
target_link_libraries(tidemark_version PRIVATE tidemark_flags)
