// Both ends of doctor's questions.
#include "harness/doctor/probes.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/base/child_process.hpp"
#include "harness/relay/mesh.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

constexpr double kLibrarySeconds = 10, kNvmlSeconds = 10, kRanksSeconds = 30;
constexpr std::uint32_t kRanks = 2;
// Long enough to go by another way than short messages: Open MPI reads it out of the other process.
constexpr std::size_t kExchanged = std::size_t{1} << 20;
constexpr std::size_t kMostGpus = 1024;  // a child that says more says nonsense

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

/// The first line that says something; mpirun frames what it says.
std::string first_words(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of("-= \t") != std::string::npos) return line;
  }
  return {};
}

std::string why_silent(const ChildAnswer& answer, double seconds) {
  if (!answer.started) return "the process that asks could not be started";
  if (answer.timed_out) return fmt::format("no answer within {:g} s", seconds);
  std::string words = first_words(answer.err);
  if (!words.empty()) return words;
  return answer.status > 128 ? fmt::format("asking ended with signal {}", answer.status - 128)
                             : fmt::format("asking ended with status {}", answer.status);
}

Json json_of(const GpuState& state) {
  return {{"record", to_line(Record(state.record))},
          {"refused", state.refused},
          {"processes", state.processes},
          {"compute_mode", state.compute_mode},
          {"ecc_pending", state.ecc_pending},
          {"mig_pending", state.mig_pending},
          {"remapped_rows_failed", state.remapped_rows_failed},
          {"nvlinks", state.nvlinks},
          {"default_app_sm_mhz", state.default_app_sm_mhz},
          {"throttle_reasons", state.throttle_reasons},
          {"peers", state.peers}};
}

GpuState state_in(const Json& json) {
  const JournalText text = parse_journal(json.at("record"));
  if (text.records.size() != 1) throw Error("no record of a GPU");
  return {.record = std::get<GpuRecord>(text.records.front()),
          .refused = json.at("refused"),
          .processes = json.at("processes"),
          .compute_mode = json.at("compute_mode"),
          .ecc_pending = json.at("ecc_pending"),
          .mig_pending = json.at("mig_pending"),
          .remapped_rows_failed = json.at("remapped_rows_failed"),
          .nvlinks = json.at("nvlinks"),
          .default_app_sm_mhz = json.at("default_app_sm_mhz"),
          .throttle_reasons = json.at("throttle_reasons"),
          .peers = json.at("peers")};
}

/// One line a GPU, at once: the next may be one that never answers.
int say_gpus(const char* library) {
  std::string why;
  const std::optional<Nvml> nvml = Nvml::open(library, &why);
  if (!nvml) throw Error(why);
  const std::vector<NvmlDevice> devices = nvml->devices();
  fmt::print("{}", dumped({{"gpus", devices.size()}}));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] == nullptr) continue;
    GpuState state = nvml->state(devices[i], devices);
    if (state.record.uuid.empty()) state.record.uuid = fmt::format("{}", i);  // to nvidia-smi -i
    fmt::print("{}", dumped({{"index", i}, {"state", json_of(state)}}));
    std::fflush(stdout);
  }
  return 0;
}

int say_library(const char* name, const char* function, std::string_view call) {
  void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) throw Error(dlerror());
  void* const address = dlsym(library, function);
  if (address == nullptr) throw Error(fmt::format("{} has no {}", name, function));
  std::int64_t version = 0;
  if (call == "returned") {
    version = static_cast<std::int64_t>(reinterpret_cast<std::size_t (*)()>(address)());
  } else {
    int number = 0;
    const int code = reinterpret_cast<int (*)(int*)>(address)(&number);
    if (code != 0) throw Error(fmt::format("{} of {} ended with {}", function, name, code));
    version = number;
  }
  Dl_info where{};
  const bool known = dladdr(address, &where) != 0 && where.dli_fname != nullptr;
  fmt::print("{}", dumped({{"path", known ? where.dli_fname : ""}, {"version", version}}));
  return 0;
}

int say_rank() {
  ::alarm(static_cast<unsigned>(kRanksSeconds));  // mpirun may be gone and MPI_Init may not return
  Mesh mesh = open_mesh();
  const Gathered met = mesh.allgather(std::string(kExchanged, 'x'), {.silence_s = kRanksSeconds});
  if (!met.complete()) throw Error("another rank is silent");
  for (const std::string& part : met.parts)
    if (part.size() != kExchanged) throw Error("a message between ranks was cut short");
  fmt::print("{}", dumped({{"ranks", mesh.ranks()}, {"library", mesh.library()}}));
  std::fflush(stdout);
  mesh.close(kRanksSeconds);
  return 0;
}

/// 13010 is 13.1 of CUDA, 22803 is 2.28.3 of NCCL, 130002 is 13.0.2 of cuBLAS.
std::string version_text(std::string_view function, std::int64_t number) {
  if (function == "cuDriverGetVersion")
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

}  // namespace

FoundLibrary probe_library(const std::string& program, const std::string& library,
                           const std::string& function, VersionCall call) {
  const ChildAnswer answer =
      ask_bounded({program, "__probe", "library", library, function,
                   call == VersionCall::returned ? "returned" : "by_pointer"},
                  kLibrarySeconds);
  const Json json = Json::parse(answer.out, nullptr, false);
  if (answer.status != 0 || !json.is_object())
    return {.problem = why_silent(answer, kLibrarySeconds)};
  return {.loads = true,
          .path = json.value("path", ""),
          .version = version_text(function, json.value("version", std::int64_t{0}))};
}

NvmlStates probe_gpus(const std::string& program, const std::string& library) {
  const ChildAnswer answer = ask_bounded({program, "__probe", "gpus", library}, kNvmlSeconds);
  NvmlStates states;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    try {
      if (json.contains("gpus")) {
        states.answered = true;
        states.gpus.resize(std::min(json.at("gpus").get<std::size_t>(), kMostGpus));
      } else {
        states.gpus.at(json.at("index").get<std::size_t>()) = state_in(json.at("state"));
      }
    } catch (const std::exception&) {  // torn by the end of the child, or the driver's own words
      continue;
    }
  }
  if (answer.status != 0) states.problem = why_silent(answer, kNvmlSeconds);
  return states;
}

RankStart probe_ranks(const std::string& program, const std::string& mpirun,
                      const std::vector<std::pair<std::string, std::string>>& settings) {
  const ChildAnswer answer = run_bounded({mpirun, "--bind-to", "none", "--oversubscribe", "-n",
                                          fmt::format("{}", kRanks), program, "__probe", "rank"},
                                         kRanksSeconds, {.settings = settings});
  RankStart start{.timed_out = answer.timed_out};
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("ranks", 0U) != kRanks) continue;
    ++start.met;
    start.library = json.value("library", "");
  }
  if (answer.status != 0 || start.met != kRanks) start.problem = why_silent(answer, kRanksSeconds);
  return start;
}

int probe_main(int argc, char** argv) {
  try {
    const std::string_view what = argc > 2 ? argv[2] : "";
    int status = 1;
    if (what == "gpus" && argc == 4) status = say_gpus(argv[3]);
    if (what == "library" && argc == 6) status = say_library(argv[3], argv[4], argv[5]);
    if (what == "rank" && argc == 3) status = say_rank();
    return std::fflush(stdout) == 0 ? status : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace tidemark
