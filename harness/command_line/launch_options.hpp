// What the user asked `tidemark run` or `tidemark bench` for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/room.hpp"
#include "kernels/transport.hpp"
#include "suite/case.hpp"

namespace tidemark::harness {

enum class DeviceChoice : std::uint8_t { automatic, cuda, virtual_device };

struct LaunchOptions {
  std::vector<std::string> cases = {};    // globs; empty means all
  std::vector<std::string> exclude = {};  // globs
  Level level = Level::quick;
  bool bench = false;  // benchmarks alone, and those that they stand on; prints their numbers
  DeviceChoice device = DeviceChoice::automatic;
  std::string gpus = {};          // indexes or UUIDs, comma separated; virtual: how many devices
  bool strict_gpus = false;       // refuse a GPU that cannot be used, instead of leaving it out
  std::uint32_t expect_gpus = 0;  // on each machine at least; 0: whatever is there
  bool seed_given = false;
  std::uint64_t seed = 0;
  std::string out = {};  // report path; empty: tidemark-<host>-<UTC>.h5
  bool json = false;
  bool dry_run = false;  // print the plan and leave
  bool anonymize = false;
  bool strict = false;
  std::string resume = {};                   // journals of an interrupted launch; empty: none
  std::string policy = {};                   // a file of JSON; empty: none
  double time_limit_s = 0;                   // 0: none
  std::int64_t row = -1;                     // run only this row of each case
  std::uint32_t ranks = 0;                   // start mpirun with so many; 0: do not
  std::string fault = {};                    // built into the virtual device, to see a failure
  std::uint32_t launches = 1;                // one after the other, a report each
  bool calibrate = false;                    // store what the launches differ by in their reports
  std::map<std::string, double> slow = {};   // benchmarks to slow on purpose, by Timing::slow
  std::optional<PanelRoute> transport = {};  // of distributed GEMMs; none: what the GPUs allow best
  ProductOptions product = {};               // likewise; empty: usual sizes, planned grid
  std::vector<std::string> arguments = {};   // argv as given
};

}  // namespace tidemark::harness
