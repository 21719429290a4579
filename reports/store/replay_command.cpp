// Puts values together that cannot be more than values.
#include "reports/store/replay_command.hpp"

#include <fmt/format.h>

#include <initializer_list>

namespace tidemark::reports {
namespace {

constexpr std::string_view kCaseName = "abcdefghijklmnopqrstuvwxyz0123456789_.";
constexpr std::string_view kUuid = "0123456789abcdefABCDEFGPUMI-";
constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,:=@%";

bool is_of(std::string_view value, std::string_view characters) {
  return !value.empty() && value.front() != '-' &&
         value.find_first_not_of(characters) == std::string_view::npos;
}

/// " --row 3" of a stored line that has it; empty where its value could be more than one. A path in
/// quotes is a stranger's text: the reader has to put it in the place of FILE.
std::string option_of(std::string_view stored, std::string_view option) {
  const std::string name = fmt::format(" {} ", option);
  const std::size_t at = stored.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = stored.substr(at + name.size());
  const std::string_view value = rest.substr(0, rest.find(' '));
  if (option == "--gemm-table" && (rest.starts_with('\'') || rest.starts_with("$'")))
    return name + "FILE";
  return is_of(value, kPlain) ? name + std::string(value) : std::string();
}

/// What an anonymised report, or one of a broken driver, names by its UUID is named by number.
std::string gpu_of(const GpuRow& gpu) {
  const std::string_view uuid = gpu.uuid.view();
  return is_of(uuid, kUuid) ? std::string(uuid) : fmt::format("{}", gpu.local_index);
}

}  // namespace

std::string replay_command(const Report& report, const ResultRow& result,
                           std::optional<std::uint32_t> row) {
  const LaunchRow& launch = report.launch;
  const CaseRow& of = report.cases[result.case_id];
  const std::string_view stored = report.text(result.replay);
  if ((stored.empty() && !row) || !is_of(of.name.view(), kCaseName)) return {};
  const bool together = report.text(of.scope) == "all_gpus" && launch.gpus > 1;
  const bool by_ranks = together && launch.ranks_expected > 1;
  std::string line;
  if (by_ranks)
    line = fmt::format("mpirun -n {} {}", launch.gpus, launch.is_virtual ? "--oversubscribe " : "");
  line += fmt::format("tidemark run --cases {} --seed {:#x}", of.name.view(), launch.seed);
  if (launch.level == "nightly" || launch.level == "soak") line += " --level " + launch.level;
  line += row ? fmt::format(" --row {}", *row) : option_of(stored, "--row");
  for (const std::string_view option :
       {"--slow", "--gemm-table", "--transport", "--m", "--n", "--k", "--grid"})
    line += option_of(stored, option);
  if (launch.is_virtual) {
    line += " --device virtual" + option_of(stored, "--fault");
    if (together && !by_ranks) line += fmt::format(" --gpus {}", launch.gpus);
  } else {
    line +=
        together ? option_of(stored, "--gpus") : " --gpus " + gpu_of(report.gpus[result.gpu_id]);
  }
  return line;
}

}  // namespace tidemark::reports
