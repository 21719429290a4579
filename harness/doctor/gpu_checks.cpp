// One function a subject.
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>

#include <fmt/ranges.h>

#include "harness/doctor/node_checks.hpp"
#include "reports/journal/hardware_events.hpp"
#include "reports/render/page.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kHopper = 90;
constexpr std::int32_t kProhibited = 2;  // NVML_COMPUTEMODE_PROHIBITED

constexpr std::uint64_t kByAppClocks = 0x2;  // nvmlClocksEventReasonApplicationsClocksSetting

// nvml.h, nvmlGpuP2PStatus_t.
constexpr std::array<std::string_view, 7> kPeerStatus = {"ok",
                                                         "chipset not supported",
                                                         "GPU not supported",
                                                         "topology not supported",
                                                         "disabled by a registry key",
                                                         "not supported",
                                                         "unknown"};

// Checks and the queries that they need; the last has all others.
constexpr std::array<std::pair<const char*, std::string_view>, 12> kQueries = {{
    {"gpu.model", "nvmlDeviceGetName nvmlDeviceGetCudaComputeCapability"},
    {"gpu.mig", "nvmlDeviceGetMigMode"},
    {"gpu.free", "nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetComputeMode"},
    {"gpu.memory", "nvmlDeviceGetTotalEccErrors nvmlDeviceGetRemappedRows"},
    {"gpu.ecc", "nvmlDeviceGetEccMode"},
    {"gpu.power", "nvmlDeviceGetPowerManagementLimit nvmlDeviceGetPowerManagementDefaultLimit"},
    {"gpu.heat", "nvmlDeviceGetCurrentClocksThrottleReasons"},
    {"gpu.clocks",
     "nvmlDeviceGetCurrentClocksThrottleReasons nvmlDeviceGetApplicationsClock "
     "nvmlDeviceGetDefaultApplicationsClock nvmlDeviceGetMaxClockInfo"},
    {"gpu.persistence", "nvmlDeviceGetPersistenceMode"},
    {"nvlink", "nvmlDeviceGetNvLinkState"},
    {"peer_access", "nvmlDeviceGetP2PStatus"},
    {"nvml", ""},
}};

constexpr std::array kGpuChecks = {"driver",    "cuda",        "nvml",       "gpu.model",
                                   "gpu.mig",   "gpu.free",    "gpu.memory", "gpu.ecc",
                                   "gpu.power", "gpu.heat",    "gpu.clocks", "gpu.persistence",
                                   "nvlink",    "peer_access", "nccl",       "cublaslt"};

void check_driver(const NodeState& node, CheckList& checks) {
  if (node.driver_module.empty()) {
    checks.fail("driver", "a GPU is there, but the kernel module nvidia is not loaded",
                "install the NVIDIA driver, or load it: sudo modprobe nvidia");
  } else if (!node.cuda.loads) {
    checks.fail("driver",
                fmt::format("module {}, but libcuda.so.1 does not load: {}", node.driver_module,
                            node.cuda.problem),
                "install the driver's user libraries; in a container start it with its GPUs "
                "(--gpus all, nvidia-container-toolkit)");
  } else if (!node.built_nvcc.empty() && major_of(node.cuda.version) < major_of(node.built_nvcc)) {
    checks.fail(
        "driver",
        fmt::format("{} has CUDA {}, this tidemark was built with {}", node.driver_module,
                    node.cuda.version, node.built_nvcc),
        fmt::format("update the driver to one with CUDA {0}.0 or newer, or install NVIDIA's "
                    "package cuda-compat-{0}-0 and put its libcuda first in "
                    "LD_LIBRARY_PATH",
                    major_of(node.built_nvcc)));
  } else {
    checks.ok("driver", fmt::format("{}, CUDA {}, {}", node.driver_module, node.cuda.version,
                                    node.cuda.path));
  }
}

std::string cuda_fix(const NodeState& node) {
  const std::string& problem = node.cuda_problem;
  if (problem.find("CUDA_VISIBLE_DEVICES") != std::string::npos)
    return "unset CUDA_VISIBLE_DEVICES";
  // cudaErrorSystemNotReady
  if (problem.find("not yet initialized") != std::string::npos)
    return "start the fabric manager: sudo systemctl start nvidia-fabricmanager";
  if (problem.find("insufficient") != std::string::npos) return "update the NVIDIA driver";
  return "see whether nvidia-smi works here, and look for NVRM and Xid lines in the kernel log "
         "(dmesg)";
}

void check_cuda(const NodeState& node, CheckList& checks) {
  if (node.visible.empty()) {
    checks.fail("cuda", node.cuda_problem.empty() ? "CUDA shows no GPU" : node.cuda_problem,
                cuda_fix(node));
    return;
  }
  const std::size_t all = node.nvml.gpus.size();
  const std::string seen = all == 0
                               ? plural(node.visible.size(), "GPU")
                               : fmt::format("{} of {}", node.visible.size(), plural(all, "GPU"));
  if (node.visible.size() < all && !node.cuda_visible) {
    checks.warn("cuda", seen + " shown by CUDA",
                "look for NVRM and Xid lines in the kernel log (dmesg), and at the cgroup of this "
                "job");
  } else {
    checks.ok("cuda", seen + (node.cuda_visible
                                  ? fmt::format(" (CUDA_VISIBLE_DEVICES={})", *node.cuda_visible)
                                  : ""));
  }
}

std::string nvml_fix(const NodeState& node) {
  if (node.nvml.problem.find("mismatch") != std::string::npos)
    return "the driver was updated under its loaded module: restart this node, or unload and load "
           "the nvidia modules";
  if (node.nvml.problem.find("no answer") != std::string::npos)
    return "look for Xid lines in the kernel log (dmesg); drain and restart this node";
  return "install the driver's libnvidia-ml.so.1, and see whether nvidia-smi works here";
}

void check_nvml(const NodeState& node, CheckList& checks) {
  if (!node.nvml.answered || !node.nvml.problem.empty()) {
    checks.fail("nvml", node.nvml.problem.empty() ? "no answer" : node.nvml.problem,
                nvml_fix(node));
  } else if (node.nvml.gpus.empty()) {
    checks.fail("nvml", "knows no GPU",
                "look for NVRM lines in the kernel log (dmesg), and see whether nvidia-smi works");
  } else if (!checks.has("nvml")) {
    checks.ok("nvml", plural(node.nvml.gpus.size(), "GPU"));
  }
  for (std::size_t i = 0; i < node.nvml.gpus.size(); ++i) {
    if (node.nvml.gpus[i] || !node.nvml.problem.empty()) continue;
    checks.fail("gpu.lost", fmt::format("NVML counts GPU {} and cannot open it", i),
                "look for Xid 79 in the kernel log (dmesg); restart this node");
  }
}

/// A GPU for messages: "GPU 3 (GPU-5f1c...)".
std::string name_of(std::size_t index, const GpuState& gpu) {
  return fmt::format("GPU {} ({})", index, gpu.record.uuid);
}

using Each = std::function<void(std::size_t, const GpuState&)>;

void for_each_gpu(const NodeState& node, const Each& each) {
  for (std::size_t i = 0; i < node.nvml.gpus.size(); ++i)
    if (node.nvml.gpus[i]) each(i, *node.nvml.gpus[i]);
}

/// What all GPUs were found to be, where none was found to be otherwise: "H200" or "80, 90 W".
std::string in_common(const NodeState& node,
                      const std::function<std::string(const GpuState&)>& text) {
  std::set<std::string> texts;
  std::size_t gpus = 0;
  for_each_gpu(node, [&](std::size_t, const GpuState& gpu) {
    texts.insert(text(gpu));
    ++gpus;
  });
  return fmt::format("{}: {}", plural(gpus, "GPU"), fmt::join(texts, ", "));
}

/// No check is ok that lacks an answer of NVML.
void check_refused(const NodeState& node, CheckList& checks) {
  for_each_gpu(node, [&](std::size_t i, const GpuState& gpu) {
    for (const std::string& function : gpu.refused) {
      bool placed = false;
      for (const auto& [check, queries] : kQueries) {
        const bool needed = queries.find(function) != std::string_view::npos;
        if (queries.empty() ? placed : !needed) continue;
        placed = true;
        checks.warn(check, fmt::format("{}: unknown: NVML refuses {}", name_of(i, gpu), function),
                    fmt::format("nvidia-smi -q -i {}; Xid lines in the kernel log (dmesg)",
                                gpu.record.uuid),
                    gpu.record.uuid);
      }
    }
  });
}

void check_use(const NodeState& node, CheckList& checks) {
  for_each_gpu(node, [&](std::size_t i, const GpuState& gpu) {
    const std::string who = name_of(i, gpu);
    const std::string& uuid = gpu.record.uuid;
    if (gpu.record.compute_capability != 0 && gpu.record.compute_capability != kHopper)
      checks.fail(
          "gpu.model",
          fmt::format("{}: {} has compute capability {}.{}, not 9.0", who, gpu.record.name,
                      gpu.record.compute_capability / 10, gpu.record.compute_capability % 10),
          "leave it out (--gpus), or run on a node with Hopper GPUs", uuid);
    if (gpu.record.mig_enabled == 1)
      checks.fail("gpu.mig", who + ": MIG is on",
                  fmt::format("sudo nvidia-smi -i {} -mig 0, without processes on it", uuid), uuid);
    else if (gpu.mig_pending == 1)
      checks.warn("gpu.mig", who + ": MIG is off, and on after the next reset",
                  fmt::format("sudo nvidia-smi -i {} -mig 0", uuid), uuid);
    if (!gpu.processes.empty()) {
      const std::size_t shown = std::min<std::size_t>(gpu.processes.size(), 4);
      checks.fail(
          "gpu.free",
          fmt::format("{}: in use by process {}{}", who,
                      fmt::join(gpu.processes.begin(),
                                gpu.processes.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                      shown < gpu.processes.size() ? ", ..." : ""),
          "wait for it or end it (ps -fp PID names it), or leave this GPU out (--gpus)", uuid);
    } else if (gpu.compute_mode == kProhibited) {
      checks.fail("gpu.free", who + ": compute mode is 'prohibited'",
                  fmt::format("sudo nvidia-smi -i {} -c DEFAULT", uuid), uuid);
    }
  });
}

void check_memory(const NodeState& node, CheckList& checks) {
  for_each_gpu(node, [&](std::size_t i, const GpuState& gpu) {
    const std::string who = name_of(i, gpu);
    const std::string& uuid = gpu.record.uuid;
    if (gpu.remapped_rows_failed != 0)
      checks.fail("gpu.memory", who + ": a row of its memory could not be remapped",
                  "drain this node and have the GPU replaced", uuid);
    if (number_of(gpu.record.remapped_rows_pending) > 0)
      checks.warn("gpu.memory", who + ": rows of its memory wait to be remapped",
                  fmt::format("sudo nvidia-smi -i {} --gpu-reset, without processes on it, or "
                              "restart this node",
                              uuid),
                  uuid);
    if (number_of(gpu.record.ecc_uncorrected) > 0)
      checks.warn("gpu.memory",
                  fmt::format("{}: {} uncorrected memory errors since the driver was loaded", who,
                              gpu.record.ecc_uncorrected),
                  fmt::format("run dcgmi diag -r 3; then sudo nvidia-smi -i {} --gpu-reset", uuid),
                  uuid);
    if (gpu.record.ecc_enabled == 0)
      checks.warn("gpu.ecc", who + ": ECC is off",
                  fmt::format("sudo nvidia-smi -i {} -e 1, then restart this node", uuid), uuid);
    else if (gpu.ecc_pending == 0)
      checks.warn("gpu.ecc", who + ": ECC is on, and off after the next restart",
                  fmt::format("sudo nvidia-smi -i {} -e 1", uuid), uuid);
  });
}

void check_speed(const NodeState& node, CheckList& checks) {
  for_each_gpu(node, [&](std::size_t i, const GpuState& gpu) {
    const std::string who = name_of(i, gpu);
    const GpuRecord& record = gpu.record;
    const std::string& uuid = record.uuid;
    // False where one of them is NaN, which is unknown.
    if (record.power_limit_w < record.default_power_limit_w)
      checks.warn(
          "gpu.power",
          fmt::format("{}: power cap {:.0f} W, below its default {:.0f} W", who,
                      record.power_limit_w, record.default_power_limit_w),
          fmt::format("sudo nvidia-smi -i {} -pl {:.0f}", uuid, record.default_power_limit_w),
          uuid);
    if (throttling_in(gpu.throttle_reasons))
      checks.warn(
          "gpu.heat",
          fmt::format("{}: clocks are lowered: {}", who, text_of_throttling(gpu.throttle_reasons)),
          "look at cooling, power supply and cables; nvidia-smi -q -d PERFORMANCE", uuid);
    const bool lower = record.app_sm_mhz != 0 && record.app_sm_mhz < gpu.default_app_sm_mhz;
    if (lower)
      checks.warn("gpu.clocks",
                  fmt::format("{}: application clock {} MHz, below its default {} MHz", who,
                              record.app_sm_mhz, gpu.default_app_sm_mhz),
                  fmt::format("sudo nvidia-smi -i {} -rac", uuid), uuid);
    else if ((gpu.throttle_reasons & kByAppClocks) != 0)
      checks.warn("gpu.clocks", who + ": clocks are held by a setting (locked, or application)",
                  fmt::format("sudo nvidia-smi -i {} -rgc and -rac, unless they are locked on "
                              "purpose",
                              uuid),
                  uuid);
    if (record.persistence == 0)
      checks.warn("gpu.persistence", who + ": persistence mode is off",
                  fmt::format("sudo nvidia-smi -i {} -pm 1, or run nvidia-persistenced", uuid),
                  uuid);
  });
}

void check_links(const NodeState& node, CheckList& checks) {
  if (node.nvml.gpus.size() < 2) {
    for (const char* name : {"nvlink", "peer_access"})
      if (!checks.has(name)) checks.skip(name, "one GPU");
    return;
  }
  for_each_gpu(node, [&](std::size_t i, const GpuState& gpu) {
    const std::string& uuid = gpu.record.uuid;
    if (gpu.nvlinks == 0 && !checks.has("nvlink"))
      checks.skip("nvlink", name_of(i, gpu) + ": NVML names none");
    if (gpu.record.nvlinks_up < gpu.nvlinks)
      checks.warn(
          "nvlink",
          fmt::format("{}: {} of {} links are up", name_of(i, gpu), gpu.record.nvlinks_up,
                      gpu.nvlinks),
          fmt::format("nvidia-smi nvlink -s -i {}; see that nvidia-fabricmanager runs", uuid),
          uuid);
    for (std::size_t j = 0; j < gpu.peers.size(); ++j) {
      if (j != i && gpu.peers[j] < 0 && !checks.has("peer_access"))
        checks.warn("peer_access",
                    fmt::format("unknown whether {} reaches the memory of GPU {}, which NVML "
                                "cannot open",
                                name_of(i, gpu), j),
                    "see gpu.lost", uuid);
      if (gpu.peers[j] <= 0) continue;
      const auto status =
          std::min<std::size_t>(static_cast<std::size_t>(gpu.peers[j]), kPeerStatus.size() - 1);
      checks.warn(
          "peer_access",
          fmt::format("{} does not reach the memory of GPU {}: {}", name_of(i, gpu), j,
                      kPeerStatus[status]),
          "see nvidia-smi topo -p2p r; distributed GEMMs go by NCCL, peer cases are skipped", uuid);
    }
  });
}

/// What no GPU has anything against.
void check_others(const NodeState& node, CheckList& checks) {
  using Text = std::function<std::string(const GpuState&)>;
  const std::pair<const char*, Text> others[] = {
      {"gpu.model", [](const auto& gpu) { return gpu.record.name; }},
      {"gpu.mig", [](const auto&) { return "off"; }},
      {"gpu.free", [](const auto&) { return "no process"; }},
      {"gpu.memory", [](const auto&) { return "no uncorrected errors, no row waits"; }},
      {"gpu.ecc", [](const auto&) { return "on"; }},
      {"gpu.power",
       [](const auto& gpu) { return fmt::format("cap {:.0f} W", gpu.record.power_limit_w); }},
      {"gpu.heat", [](const auto&) { return "clocks are not lowered"; }},
      {"gpu.clocks",
       [](const auto& gpu) {
         return fmt::format("up to {} MHz, no setting seen", gpu.record.max_sm_mhz);
       }},
      {"gpu.persistence", [](const auto&) { return "on"; }},
      {"nvlink", [](const auto& gpu) { return fmt::format("{} links up", gpu.record.nvlinks_up); }},
      {"peer_access", [](const auto&) { return "reads and writes of every other"; }}};
  for (const auto& [check, text] : others)
    if (!checks.has(check)) checks.ok(check, in_common(node, text));
}

void check_libraries(const NodeState& node, CheckList& checks) {
  if (node.nccl.loads)
    checks.ok("nccl", fmt::format("{}, {}", node.nccl.version, node.nccl.path));
  else
    checks.warn("nccl", node.nccl.problem,
                "install NCCL 2.14 or newer (libnccl2), or add its folder to LD_LIBRARY_PATH: "
                "distributed GEMMs need it where GPUs do not reach each other");
  if (node.cublaslt.loads)
    checks.ok("cublaslt", fmt::format("{}, {}", node.cublaslt.version, node.cublaslt.path));
  else
    // No verb needs it; ci/gemm_tune compares with it.
    checks.skip("cublaslt", "not found; only comparisons with cuBLASLt (ci/gemm_tune) need it");
}

}  // namespace

void check_gpus(const NodeState& node, CheckList& checks) {
  if (!node.gpus_asked || !node.nvidia_present) {
    const std::string why =
        node.gpus_asked ? "this machine has no NVIDIA device" : "--device virtual";
    if (node.gpus_asked)
      checks.fail("gpu", "no PCI device of vendor 0x10de and no /dev/nvidia*",
                  "run this on a node with a Hopper GPU; start a container with its GPUs (--gpus "
                  "all); or leave GPUs out by --device virtual");
    for (const char* name : kGpuChecks) checks.skip(name, why);
    return;
  }
  check_driver(node, checks);
  check_cuda(node, checks);
  check_refused(node, checks);
  check_nvml(node, checks);
  const bool any = std::any_of(node.nvml.gpus.begin(), node.nvml.gpus.end(),
                               [](const auto& gpu) { return gpu.has_value(); });
  if (any) {
    check_use(node, checks);
    check_memory(node, checks);
    check_speed(node, checks);
    check_links(node, checks);
    check_others(node, checks);
  }
  check_libraries(node, checks);
  for (const char* name : kGpuChecks)
    if (!checks.has(name)) checks.skip(name, "NVML named no GPU");
}

}  // namespace tidemark
