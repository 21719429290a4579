// Which counters of errors grew during a launch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/discovery/nvml.hpp"
#include "harness/room.hpp"

namespace tidemark::harness {

/// The counters of one GPU. What they hold at first is not of this launch.
class CounterRises {
 public:
  /// "PCIe replays rose": where a counter is higher than at first, and again each time that its
  /// rise has doubled. A loose cable counts thousands a second, and one event says as much. Once
  /// also "PCIe replays are unknown: ...", where NVML refuses them.
  std::vector<std::string> told(const std::vector<ErrorCounter>& counters);

 private:
  struct Rise {
    std::uint64_t first = 0;
    std::uint64_t told = 0;  // above `first`
  };
  std::map<std::string, Rise> rises_;
  std::set<std::string> unknown_;
};

}  // namespace tidemark::harness
