// Judges what was read of a node: what is missing or misconfigured, and what to do about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/doctor/node_state.hpp"

namespace tidemark {

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

// Collects checks while a node is judged.

class CheckList {
 public:
  void ok(std::string name, std::string seen) {
    add(CheckStatus::ok, std::move(name), std::move(seen), {});
  }
  void skip(std::string name, std::string why) {
    add(CheckStatus::skip, std::move(name), std::move(why), {});
  }
  void warn(std::string name, std::string seen, std::string fix, std::string gpu = {}) {
    add(CheckStatus::warn, std::move(name), std::move(seen), std::move(fix), std::move(gpu));
  }
  void fail(std::string name, std::string seen, std::string fix, std::string gpu = {}) {
    add(CheckStatus::fail, std::move(name), std::move(seen), std::move(fix), std::move(gpu));
  }
  bool has(std::string_view name) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const NodeCheck& check) { return check.name == name; });
  }
  std::vector<NodeCheck> sorted() && {
    std::stable_sort(all_.begin(), all_.end(),
                     [](const auto& a, const auto& b) { return a.status < b.status; });
    return std::move(all_);
  }

 private:
  void add(CheckStatus status, std::string name, std::string seen, std::string fix,
           std::string gpu = {}) {
    all_.push_back({.status = status,
                    .name = std::move(name),
                    .seen = std::move(seen),
                    .fix = std::move(fix),
                    .gpu = std::move(gpu)});
  }

  std::vector<NodeCheck> all_;
};

/// The checks of driver, GPUs, what connects them, and the libraries that only they need. What
/// several GPUs have in common is one check; a GPU that differs from what it should be has one of
/// its own.
void check_gpus(const NodeState& node, CheckList& checks);

/// 13 of "13.0.88".
std::uint32_t major_of(const std::string& version);

}  // namespace tidemark
