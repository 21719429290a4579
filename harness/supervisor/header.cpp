// Says what a launch is before its first case.
#include "harness/supervisor/header.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "harness/command_line/option_values.hpp"
#include "harness/version.hpp"
#include "reports/render/page.hpp"

namespace tidemark::harness {
namespace {

constexpr std::size_t kEnoughCpus = 4;  // for each GPU

/// How many CPUs this process may run on.
std::uint32_t cpus_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More than 1024 of them do not fit into the set; those are enough.
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return CPU_SETSIZE;
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

std::uint32_t cpus_online() {
  return static_cast<std::uint32_t>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

void say_header(Console& console, const LaunchOptions& options, std::uint32_t number,
                const Opening& opening, const GpuRecord* first) {
  console.line(fmt::format("tidemark {}  run {}  seed {:#x}  level {}", build_version().version,
                           opening.head.run_id.substr(0, 8), opening.head.seed,
                           name_of(options.level)));
  if (options.launches > 1) {
    console.line(fmt::format(" launch {} of {}", number, options.launches));
  }
  for (const auto& [name, share] : options.slow) {
    console.line(fmt::format(" SLOWED ON PURPOSE: {} by {}", name, percent_of(share)));
  }
  if (!opening.resumed.folder.empty()) {
    console.line(fmt::format(" goes on with run {}: {} results are there",
                             opening.resumed.run_id.substr(0, 8),
                             answered(opening.resumed).size()));
  }
  for (const std::string& text : opening.assignment.left_out) {
    console.line(" LEFT OUT: " + printable(text));
  }
  if (opening.assignment.kind == DeviceKind::virtual_device) {
    console.line(fmt::format(" VIRTUAL device: {} of them; nothing here is measured on a GPU{}",
                             opening.places.size(),
                             options.fault.empty() ? "" : "; fault " + options.fault));
    return;
  }
  std::string line = fmt::format(" nodes {}  gpus {}", opening.nodes, opening.places.size());
  if (first != nullptr) {
    line += " x " + first->name;
    if (!first->driver.empty()) line += "  driver " + first->driver;
    if (first->cuda_driver > 0) {
      line +=
          fmt::format("  cuda {}.{}", first->cuda_driver / 1000, first->cuda_driver % 1000 / 10);
    }
    if (!first->nvml) line += "  nvml: not available";
  }
  console.line(line);
  const std::string few =
      few_cpus(cpus_allowed(), cpus_online(), opening.assignment.gpus.front().size());
  if (!few.empty()) console.line(few);
}

std::string few_cpus(std::uint32_t allowed, std::uint32_t online, std::size_t gpus) {
  if (allowed >= online || allowed >= kEnoughCpus * gpus) return {};
  return fmt::format(
      " this rank may use {} of {} CPUs: checks of products take longer; mpirun --bind-to none",
      allowed, online);
}

}  // namespace tidemark::harness
