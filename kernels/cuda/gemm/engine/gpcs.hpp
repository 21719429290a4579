// Where the clusters of a launch run that has the GPU to itself.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

/// Numbers of the GPCs in which clusters of `blocks` blocks run, an SM to each block, in order of
/// the clusters; as many as run at once on the current device. No API tells it: small launches of
/// clusters of several sizes show which SMs are neighbours, and one more where clusters go. Once a
/// device; empty where another kernel was in the way, and asked again then. It says nothing of what
/// is right, only of what is near: a launch may well run elsewhere. Throws Error where a launch
/// fails.
std::vector<std::uint32_t> gpcs_of_clusters(std::uint32_t blocks);

}  // namespace tidemark
