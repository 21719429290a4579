// What this binary was built from.
#pragma once

#include <string_view>

namespace tidemark {

struct BuildVersion {
  std::string_view description;  // a noun phrase, of CMakeLists.txt as the version
  std::string_view version;      // "0.1.0"
  std::string_view
      git_hash;  // commit, "-dirty" behind it where the tree differed; "unknown" without git
  std::string_view kernels_tree;  // ci/cmake/tree_hash.cmake over kernels/
  std::string_view suite_tree;    // the same over suite/
  std::string_view nvcc;          // empty without CUDA
  std::string_view compiler;      // g++
  std::string_view hdf5;
  bool cuda = false, nccl = false, mpi = false;  // built in
};

BuildVersion build_version();

}  // namespace tidemark
