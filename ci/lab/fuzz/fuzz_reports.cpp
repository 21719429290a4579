// fuzz_reports [options] REPORT.h5...: reads changed reports until one breaks the reader.
// Exit code 1 when our own code died or an error was not one clear line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ci/lab/fuzz/campaign.hpp"

namespace {

void print_deaths(const char* whose, const std::map<std::string, tidemark::Death>& deaths) {
  std::uint64_t times = 0;
  for (const auto& [place, death] : deaths) times += death.times;
  fmt::print("deaths in {}: {} at {} places\n", whose, times, deaths.size());
  for (const auto& [place, death] : deaths) {
    fmt::print("  {} x {}, first with --first {}\n", death.times, place, death.first);
  }
}

int run(int argc, char** argv) {
  CLI::App app("Reads changed reports until one breaks the reader.");
  tidemark::CampaignOptions options{.first = 0, .executions = 100'000, .seconds = 0};
  std::vector<std::string> paths;
  std::string keep;
  app.add_option("--executions", options.executions, "How many")->capture_default_str();
  app.add_option("--seconds", options.seconds, "Stop after so many, 0: never");
  app.add_option("--first", options.first, "Number of the first change: the same, the same change");
  app.add_flag("--confined", options.confined, "Each in a process of its own, as show does");
  app.add_option("--keep", keep, "Write the first changed report there and read nothing");
  app.add_option("report", paths, "Reports to change")->required()->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);

  std::vector<tidemark::Seed> seeds;
  seeds.reserve(paths.size());
  for (const std::string& path : paths) seeds.push_back(tidemark::seed_of(path));
  if (!keep.empty()) {
    std::ofstream(keep, std::ios::binary) << tidemark::mutated(seeds, options.first);
    return 0;
  }
  const tidemark::CampaignResult result = tidemark::run_campaign(seeds, options);
  fmt::print("{} executions from {} on {} seeds in {:.0f} s, {:.0f} a second\n", result.executions,
             options.first, seeds.size(), result.seconds,
             static_cast<double>(result.executions) / result.seconds);
  fmt::print("read {}, refused {} in at least {} ways, out of memory {}\n", result.read,
             result.refused, result.ways_of_refusal, result.out_of_memory);
  if (options.confined) {
    fmt::print("refused because the process that read it died: {}\n", result.contained);
    return result.own_deaths.empty() ? 0 : 1;
  }
  print_deaths("HDF5", result.hdf5_deaths);
  print_deaths("tidemark", result.own_deaths);
  return result.own_deaths.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fuzz_reports: {}\n", error.what());
    return 2;
  }
}
