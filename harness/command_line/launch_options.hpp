// What the user asked `tidemark run` or `tidemark bench` for: one struct, and one table of options.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/transport.hpp"
#include "suite/case.hpp"

namespace tidemark {

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
  std::optional<std::uint64_t> seed = {};  // none: a random one
  std::string out = {};                    // report path; empty: tidemark-<host>-<UTC>.h5
  bool json = false;
  bool dry_run = false;  // print the plan and leave
  bool anonymize = false;
  bool strict = false;
  std::string fail_on = {};                  // outlier, or empty
  std::string resume = {};                   // journals of an interrupted launch; empty: none
  std::string policy = {};                   // a file of JSON; empty: none
  double time_limit_s = 0;                   // 0: none
  std::int64_t row = -1;                     // run only this row of each case
  std::uint32_t ranks = 0;                   // start mpirun with so many; 0: do not
  std::string fault = {};                    // built into the virtual device, to see a failure
  bool jit = false;                          // of PTX, by the driver, in place of the built code
  std::uint32_t launches = 1;                // one after the other, a report each
  std::map<std::string, double> slow = {};   // benchmarks to slow on purpose, by Timing::slow
  std::optional<PanelRoute> transport = {};  // of distributed GEMMs; none: what the GPUs allow best
  ProductOptions product = {};               // likewise; empty: usual sizes, planned grid
  std::vector<std::string> arguments = {};   // argv as given
};

/// Who gets an option beside the process that read it.
enum class OptionReach : std::uint8_t {
  process,  // nobody
  ranks,    // rank 0 compares: of most options its own would hold, and the others' be ignored
  workers,  // ranks, and by SetupOrder the workers
};

/// An option of a launch: how it is typed, and how it travels. To add one, add its member above and
/// its row in the table; workers have it in SetupOrder::options.
struct LaunchField {
  std::string name;  // "--seed"
  OptionReach reach = OptionReach::process;
  std::string type = {};   // of its value, in the help; empty: a flag
  std::string help = {};   // {}: the default
  std::uint32_t most = 0;  // of a count
  bool list = false;       // takes several values
  /// Throws UsageError.
  std::function<void(LaunchOptions&, const std::vector<std::string>& typed)> read = {};
  /// As read() takes it, a list with spaces between; empty: not given.
  std::function<std::string(const LaunchOptions&)> text = {};
};

/// In the order of the help.
const std::vector<LaunchField>& launch_fields();

/// Reads what text() wrote.
void read_text(const LaunchField& field, LaunchOptions& options, const std::string& text);

/// Launches of one command.
inline constexpr std::uint32_t kMostLaunches = 1000;

/// "night-3.h5": the third of several of "night.h5"; a launch alone keeps the name.
std::string report_name(const std::string& out, std::uint32_t number, std::uint32_t launches);

}  // namespace tidemark
