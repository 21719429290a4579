// Reads what can be read here, and asks children for the rest.
#include "harness/doctor/node_state.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>
#include <string_view>

#include "harness/base/child_process.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/mpirun.hpp"
#include "harness/relay/mesh.hpp"
#include "harness/version.hpp"
#include "kernels/error.hpp"
#include "reports/journal/fields.hpp"

namespace tidemark {

// Both ends of doctor's questions.

namespace {

using Json = FieldJson;

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

struct StateDialect {};  // no enumerator is among the fields

template <class Io>
void fields(Io& io, Is<GpuState> auto& r) {
  io("refused", r.refused), io("processes", r.processes), io("compute_mode", r.compute_mode);
  io("ecc_pending", r.ecc_pending), io("mig_pending", r.mig_pending);
  io("remapped_rows_failed", r.remapped_rows_failed), io("nvlinks", r.nvlinks);
  io("default_app_sm_mhz", r.default_app_sm_mhz), io("throttle_reasons", r.throttle_reasons);
  io("peers", r.peers);
}

GpuState state_in(const FieldJson& json) {
  const JournalText text = parse_journal(json.at("record"));
  if (text.records.size() != 1) throw Error("no record of a GPU");
  GpuState state{.record = std::get<GpuRecord>(text.records.front())};
  FieldReader<StateDialect>::read(json.at("state"), state);
  return state;
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
    fmt::print("{}", dumped({{"index", i},
                             {"record", to_line(Record(state.record))},
                             {"state", FieldWriter<StateDialect>::written(state)}}));
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
        states.gpus.at(json.at("index").get<std::size_t>()) = state_in(json);
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

namespace {

namespace fs = std::filesystem;

constexpr double kCudaSeconds = 60, kVersionSeconds = 10;

/// statvfs and access: no file is made to try it.
FreeSpace space_of(const fs::path& folder) {
  FreeSpace space;
  std::error_code error;
  space.folder = fs::is_directory(folder, error);
  struct statvfs numbers {};
  if (::access(folder.c_str(), W_OK | X_OK) != 0) space.refusal = std::strerror(errno);
  if (::statvfs(folder.c_str(), &numbers) == 0)
    space.free_bytes = std::uint64_t{numbers.f_bavail} * numbers.f_frsize;
  return space;
}

std::uint64_t limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return ~std::uint64_t{};
  return limit.rlim_cur == RLIM_INFINITY ? ~std::uint64_t{} : limit.rlim_cur;
}

void read_gpus(const NodePlace& place, NodeState& node) {
  node.nvidia_present = nvidia_present(place.root);
  if (!node.nvidia_present) return;
  node.driver_module = driver_module(place.root);
  node.cuda =
      probe_library(place.program, "libcuda.so.1", "cuDriverGetVersion", VersionCall::by_pointer);
  node.nvml = probe_gpus(place.program, place.nvml);
  // Contexts are made in the child, and end with it.
  const GpuInventory inventory = inventory_of(ask_bounded({place.program, "__gpus"}, kCudaSeconds));
  node.visible = inventory.visible;
  node.cuda_problem = inventory.problem;
  if (const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES")) node.cuda_visible = chosen;
  node.nccl =
      probe_library(place.program, "libnccl.so.2", "ncclGetVersion", VersionCall::by_pointer);
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
    if (!node.cublaslt.loads)
      node.cublaslt =
          probe_library(place.program, name, "cublasLtGetVersion", VersionCall::returned);
  }
}

void read_mpi(const NodePlace& place, NodeState& node) {
  node.built_with_mpi = build_version().mpi;
  node.is_rank = launcher_rank().has_value();
  node.mpirun = find_on_path("mpirun", place.path);
  if (node.mpirun.empty()) return;
  const auto settings = launcher_settings();
  const ChildAnswer version =
      run_bounded({node.mpirun, "--version"}, kVersionSeconds, {.settings = settings});
  node.mpirun_version = version.out.substr(0, version.out.find('\n'));
  if (!node.built_with_mpi || node.is_rank) return;
  // mpirun must have the program by a name that is ours in its process, too.
  std::error_code error;
  const fs::path self = fs::canonical(place.program, error);
  node.ranks = probe_ranks(error ? place.program : self.string(), node.mpirun, settings);
}

}  // namespace

NodeState read_node(const NodePlace& place) {
  NodeState node{.gpus_asked = place.device != DeviceChoice::virtual_device};
  if (node.gpus_asked) read_gpus(place, node);
  node.built_nvcc = build_version().nvcc;
  read_mpi(place, node);
  node.shared_memory = space_of(place.root / "dev/shm");
  node.locked_bytes = limit_of(RLIMIT_MEMLOCK);
  node.open_files = limit_of(RLIMIT_NOFILE);
  node.infiniband = infiniband_present(place.root);
  node.clock_source = clock_source(place.root);
  node.out = place.out;
  node.output = space_of(place.out);
  node.hdf5 = build_version().hdf5;
  return node;
}

}  // namespace tidemark
