// Judges what was read of a node: what is missing or misconfigured, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/doctor/node_state.hpp"
#include "harness/room.hpp"

namespace tidemark::harness {

enum class CheckStatus : std::uint8_t { fail, warn, skip, ok };  // in the order they are printed
std::string_view name_of(CheckStatus status);

struct NodeCheck {
  CheckStatus status = CheckStatus::ok;
  std::string name;      // "gpu.ecc"; never renamed: scripts know it
  std::string seen;      // what was seen, or why nothing was looked at
  std::string fix = {};  // of fail and warn
  std::string gpu = {};  // UUID, where it is of one GPU alone
};

/// All checks, in the order of CheckStatus. Pure.
std::vector<NodeCheck> checks_of(const NodeState& node);

}  // namespace tidemark::harness
