// One function a subject; those of GPUs are in gpu_checks.cpp.
#include "harness/doctor/node_checks.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace tidemark {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kUnlimited = ~std::uint64_t{};

// Open MPI 4.1 keeps 4 MiB of /dev/shm a rank; NCCL's documentation asks containers for 1 GiB, and
// Docker gives 64 MiB unless told otherwise.
constexpr std::uint64_t kLeastShared = 8 * kMiB, kGoodShared = 128 * kMiB, kGpuShared = kGiB;
// Reports of four H200 are 156 kB (ci/baselines); soak runs and journals may be many times that.
constexpr std::uint64_t kLeastOutput = 32 * kMiB, kGoodOutput = kGiB;
// With 8 virtual devices a supervisor has 32 open, mpirun 48 with 8 ranks.
constexpr std::uint64_t kLeastFiles = 256, kGoodFiles = 1024;

std::string size_text(std::uint64_t bytes) {
  if (bytes >= kGiB)
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGiB));
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / static_cast<double>(kMiB));
}

std::string limit_text(std::uint64_t bytes) {
  return bytes == kUnlimited ? "unlimited" : size_text(bytes);
}

void check_mpirun(const NodeState& node, CheckList& checks) {
  if (!node.built_with_mpi) return checks.skip("mpi", "this tidemark was built without MPI");
  if (node.mpirun.empty())
    return checks.fail("mpi", "mpirun is not on PATH",
                       "install Open MPI 4.1 or 5, or load its module; run without MPI uses the "
                       "GPUs of one node");
  constexpr std::string_view kOpenMpi = "mpirun (Open MPI) ";
  const std::string seen = fmt::format("{}: {}", node.mpirun, node.mpirun_version);
  const bool open_mpi = node.mpirun_version.starts_with(kOpenMpi);
  const std::string version =
      open_mpi ? node.mpirun_version.substr(kOpenMpi.size()) : std::string();
  if (!open_mpi)
    checks.fail("mpi", node.mpirun_version.empty() ? node.mpirun + " says no version" : seen,
                "put the mpirun of Open MPI 4.1 or 5 first on PATH: tidemark is linked with that");
  else if (!version.starts_with("4.1.") && major_of(version) != 5)
    checks.warn("mpi", seen, "use Open MPI 4.1 or 5: others are not tested");
  else
    checks.ok("mpi", seen);
}

void check_rank_start(const NodeState& node, CheckList& checks) {
  if (!node.built_with_mpi || node.mpirun.empty())
    return checks.skip("mpi_start", "no mpirun, or no MPI in this tidemark");
  if (node.is_rank) return checks.skip("mpi_start", "this process is a rank of mpirun itself");
  const RankStart& ranks = node.ranks;
  if (ranks.problem.empty())
    return checks.ok("mpi_start", fmt::format("{} ranks met, {}", ranks.met, ranks.library));
  std::string fix =
      "try mpirun -n 2 hostname; where it hangs, name a network that works: "
      "OMPI_MCA_btl_tcp_if_include=lo";
  if (ranks.problem.find("root") != std::string::npos)
    fix =
        "Open MPI refuses root: run as a user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
  // What Open MPI 4.1 says where a container may not read the memory of another process.
  if (ranks.problem.find("Read -1") != std::string::npos)
    fix =
        "start the container with --cap-add=SYS_PTRACE, or set "
        "OMPI_MCA_btl_vader_single_copy_mechanism=none";
  checks.fail("mpi_start", fmt::format("two ranks did not meet: {}", ranks.problem), fix);
}

void check_shared_memory(const NodeState& node, CheckList& checks) {
  const FreeSpace& space = node.shared_memory;
  const std::string fix =
      "in a container: --shm-size=2g, or --ipc=host; else: sudo mount -o "
      "remount,size=50% /dev/shm, and remove what crashed jobs left in it";
  const std::string seen = fmt::format("/dev/shm: {} free", size_text(space.free_bytes));
  if (!space.folder || !space.refusal.empty())
    checks.fail("shared_memory",
                "/dev/shm: " + (space.folder ? space.refusal : std::string("is no folder")),
                space.folder ? "sudo chmod 1777 /dev/shm" : "sudo mount -t tmpfs tmpfs /dev/shm");
  else if (space.free_bytes < kLeastShared)
    checks.fail("shared_memory", seen, fix);
  else if (space.free_bytes < (node.nvidia_present ? kGpuShared : kGoodShared))
    checks.warn("shared_memory", seen, fix);
  else
    checks.ok("shared_memory", seen);
}

void check_limits(const NodeState& node, CheckList& checks) {
  const std::string locked = limit_text(node.locked_bytes);
  if (node.infiniband && node.locked_bytes != kUnlimited)
    checks.warn("locked_memory", locked + ", and InfiniBand pins what it sends",
                "ulimit -l unlimited; for good: 'memlock unlimited' in /etc/security/limits.conf, "
                "LimitMEMLOCK=infinity of slurmd");
  else
    checks.ok("locked_memory", locked + (node.infiniband ? "" : " (no InfiniBand here)"));
  const std::string files =
      node.open_files == kUnlimited ? std::string("unlimited") : fmt::format("{}", node.open_files);
  const std::string fix = "ulimit -n 4096; for good: 'nofile' in /etc/security/limits.conf";
  if (node.open_files < kLeastFiles)
    checks.fail("open_files", files, fix);
  else if (node.open_files < kGoodFiles)
    checks.warn("open_files", files, fix);
  else
    checks.ok("open_files", files);
}

void check_clock(const NodeState& node, CheckList& checks) {
  constexpr std::array<std::string_view, 5> kSlow = {"hpet", "acpi_pm", "jiffies",
                                                     "refined-jiffies", "pit"};
  if (node.clock_source.empty())
    checks.skip("clock_source", "the kernel does not say");
  else if (std::find(kSlow.begin(), kSlow.end(), node.clock_source) != kSlow.end())
    checks.warn("clock_source", node.clock_source + ": each look at the clock is a system call",
                "boot with clocksource=tsc, and see why the kernel left it (dmesg | grep -i tsc)");
  else
    checks.ok("clock_source", node.clock_source);
}

void check_output(const NodeState& node, CheckList& checks) {
  const FreeSpace& space = node.output;
  const std::string seen = fmt::format("{}: {} free", node.out, size_text(space.free_bytes));
  if (!space.folder)
    checks.fail("output", fmt::format("{}: there is no such folder", node.out),
                "make it, or name another by --out");
  else if (!space.refusal.empty())
    checks.fail("output", fmt::format("{}: {}", node.out, space.refusal),
                "let this user write there, or name another folder by --out");
  else if (space.free_bytes < kLeastOutput)
    checks.fail("output", seen, "free some space, or name another folder by --out");
  else if (space.free_bytes < kGoodOutput)
    checks.warn("output", seen, "free some space, or name another folder by --out");
  else
    checks.ok("output", seen);
}

}  // namespace

std::uint32_t major_of(const std::string& version) {
  return static_cast<std::uint32_t>(std::strtoul(version.c_str(), nullptr, 10));
}

std::string_view name_of(CheckStatus status) {
  constexpr std::array<std::string_view, 4> kNames = {"fail", "warn", "skip", "ok"};
  return kNames.at(static_cast<std::size_t>(status));
}

std::vector<NodeCheck> checks_of(const NodeState& node) {
  CheckList checks;
  check_gpus(node, checks);
  check_mpirun(node, checks);
  check_rank_start(node, checks);
  check_shared_memory(node, checks);
  check_limits(node, checks);
  check_clock(node, checks);
  check_output(node, checks);
  if (node.hdf5.empty())
    checks.skip("hdf5", "this tidemark does not know its version");
  else
    checks.ok("hdf5", node.hdf5);
  return std::move(checks).sorted();
}

}  // namespace tidemark