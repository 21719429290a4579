// Tests of what doctor makes of a node: one that is well, and what can be wrong with it, one thing
// at a time.
#include "harness/doctor/node_checks.hpp"

#include <gtest/gtest.h>

#include "harness/testing/fake_nvml.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

GpuState healthy_gpu(std::size_t index, std::size_t gpus) {
  GpuState gpu;
  gpu.record.uuid = "GPU-" + std::to_string(index);
  gpu.record.name = "NVIDIA H100 80GB HBM3";
  gpu.record.compute_capability = 90;
  gpu.record.nvml = true;
  gpu.record.ecc_enabled = gpu.record.persistence = 1;
  gpu.record.mig_enabled = 0;
  gpu.record.power_limit_w = gpu.record.default_power_limit_w = 700;
  gpu.record.app_sm_mhz = gpu.default_app_sm_mhz = gpu.record.max_sm_mhz = 1980;
  gpu.record.nvlinks_up = gpu.nvlinks = 18;
  gpu.compute_mode = 0;
  gpu.ecc_pending = 1;
  gpu.mig_pending = 0;
  gpu.throttle_reasons = 0x1;  // idle
  gpu.peers.assign(gpus, 0);
  gpu.peers.at(index) = -1;
  return gpu;
}

/// A DGX H100, on which nothing is amiss.
NodeState healthy() {
  NodeState node;
  node.nvidia_present = true;
  node.driver_module = "580.105.08";
  node.cuda = {.loads = true, .path = "/lib/libcuda.so.1", .version = "13.0"};
  node.nccl = {.loads = true, .path = "/lib/libnccl.so.2", .version = "2.28.3"};
  node.cublaslt = {.loads = true, .path = "/lib/libcublasLt.so.13", .version = "13.0.2"};
  node.built_nvcc = "13.0.88";
  node.visible.resize(8);
  node.nvml.answered = true;
  for (std::size_t i = 0; i < 8; ++i) node.nvml.gpus.emplace_back(healthy_gpu(i, 8));
  node.mpirun = "/usr/bin/mpirun";
  node.mpirun_version = "mpirun (Open MPI) 4.1.6";
  node.ranks = {.met = 2, .library = "Open MPI v4.1.6"};
  node.shared_memory = {.folder = true, .free_bytes = 512 * kGiB};
  node.locked_bytes = ~std::uint64_t{0};
  node.open_files = 1 << 20;
  node.infiniband = true;
  node.clock_source = "tsc";
  node.out = "/reports";
  node.output = {.folder = true, .free_bytes = 100 * kGiB};
  node.hdf5 = "1.10.8";
  return node;
}

/// All checks that are no ok, "fail gpu.mig", and that each of them has its fix.
std::vector<std::string> wrong_with(const NodeState& node) {
  std::vector<std::string> wrong;
  for (const NodeCheck& check : checks_of(node)) {
    EXPECT_FALSE(check.seen.empty()) << check.name;
    const bool bad = check.status == CheckStatus::fail || check.status == CheckStatus::warn;
    EXPECT_EQ(check.fix.empty(), !bad) << check.name << ": " << check.seen;
    if (bad) wrong.push_back(std::string(name_of(check.status)) + ' ' + check.name);
  }
  return wrong;
}

using Wrong = std::vector<std::string>;

const NodeCheck& check_named(const std::vector<NodeCheck>& checks, std::string_view name) {
  for (const NodeCheck& check : checks)
    if (check.name == name) return check;
  throw std::runtime_error("no check " + std::string(name));
}

/// Two GPUs as NVML describes them.
NodeState read_by_nvml() {
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML).value();
  NodeState node = healthy();
  node.nvml.gpus.clear();
  const std::vector<NvmlDevice> devices = nvml.devices();
  for (const NvmlDevice device : devices)
    node.nvml.gpus.push_back(device == nullptr ? std::nullopt
                                               : std::optional(nvml.state(device, devices)));
  node.visible.resize(2);
  return node;
}

TEST(NodeChecks, find_nothing_on_a_node_that_is_well) {
  EXPECT_EQ(wrong_with(healthy()), Wrong());
  for (const NodeCheck& check : checks_of(healthy()))
    EXPECT_EQ(check.status, CheckStatus::ok) << check.name << ": " << check.seen;
}

TEST(NodeChecks, say_what_all_gpus_have_in_common_in_one_line) {
  EXPECT_EQ(check_named(checks_of(healthy()), "gpu.model").seen, "8 GPUs: NVIDIA H100 80GB HBM3");
}

TEST(NodeChecks, a_machine_without_an_nvidia_device_fails_and_names_the_virtual_device) {
  NodeState node = healthy();
  node.nvidia_present = false;
  EXPECT_EQ(wrong_with(node), Wrong{"fail gpu"});
  EXPECT_NE(checks_of(node).front().fix.find("--device virtual"), std::string::npos);
}

TEST(NodeChecks, leave_gpus_out_where_they_are_not_asked_for) {
  NodeState node;
  node.gpus_asked = false;
  node.nvidia_present = true;
  node.mpirun = "/usr/bin/mpirun";
  node.mpirun_version = "mpirun (Open MPI) 5.0.7";
  node.shared_memory = node.output = {.folder = true, .free_bytes = 2 * kGiB};
  node.open_files = 1024;
  EXPECT_EQ(wrong_with(node), Wrong());
}

TEST(NodeChecks, a_gpu_without_a_driver) {
  NodeState node = healthy();
  node.driver_module = "";
  node.cuda = node.nccl = node.cublaslt = {.problem = "libX: cannot open shared object file"};
  node.visible.clear();
  node.cuda_problem = "asking CUDA failed: no CUDA-capable device is detected";
  node.nvml = {.problem = "libnvidia-ml.so.1: cannot open shared object file"};
  EXPECT_EQ(wrong_with(node), (Wrong{"fail driver", "fail cuda", "fail nvml", "warn nccl"}));
  EXPECT_NE(check_named(checks_of(node), "driver").fix.find("modprobe nvidia"), std::string::npos);
}

TEST(NodeChecks, a_driver_whose_libraries_are_not_in_the_container) {
  NodeState node = healthy();
  node.cuda = {.problem = "libcuda.so.1: cannot open shared object file"};
  EXPECT_EQ(wrong_with(node), Wrong{"fail driver"});
  EXPECT_NE(checks_of(node).front().fix.find("--gpus all"), std::string::npos);
}

TEST(NodeChecks, a_driver_older_than_the_build) {
  NodeState node = healthy();
  node.cuda.version = "12.8";
  EXPECT_EQ(wrong_with(node), Wrong{"fail driver"});
}

TEST(NodeChecks, libraries_of_another_driver_than_the_loaded_module) {
  NodeState node = healthy();
  node.nvml = {.problem = "nvmlInit_v2 ended with 18: Driver/library version mismatch"};
  EXPECT_EQ(wrong_with(node), Wrong{"fail nvml"});
  EXPECT_NE(checks_of(node).front().fix.find("restart this node"), std::string::npos);
}

TEST(NodeChecks, an_nvml_that_answers_for_some_gpus_and_never_for_the_next) {
  NodeState node = healthy();
  node.nvml.gpus[7].reset();
  node.nvml.problem = "no answer within 10 s";
  EXPECT_EQ(wrong_with(node), Wrong{"fail nvml"});
}

TEST(NodeChecks, a_fabric_manager_that_does_not_run) {
  NodeState node = healthy();
  node.visible.clear();
  node.cuda_problem = "asking CUDA failed: system not yet initialized";
  EXPECT_EQ(wrong_with(node), Wrong{"fail cuda"});
  EXPECT_NE(checks_of(node).front().fix.find("nvidia-fabricmanager"), std::string::npos);
}

TEST(NodeChecks, a_gpu_that_cuda_does_not_show_unless_it_was_told_so) {
  NodeState node = healthy();
  node.visible.resize(7);
  EXPECT_EQ(wrong_with(node), Wrong{"warn cuda"});
  node.cuda_visible = "0,1,2,3,4,5,6";
  EXPECT_EQ(wrong_with(node), Wrong());
}

TEST(NodeChecks, a_gpu_that_has_fallen_off_the_bus) {
  NodeState node = healthy();
  node.nvml.gpus[3].reset();
  for (auto& gpu : node.nvml.gpus)
    if (gpu) gpu->peers[3] = -1;
  node.visible.resize(7);
  EXPECT_EQ(wrong_with(node), (Wrong{"fail gpu.lost", "warn cuda", "warn peer_access"}));
}

TEST(NodeChecks, a_gpu_that_nvml_cannot_open_is_not_known_to_be_reached) {
  const FakeNvml fake("nvmlDeviceGetHandleByIndex_v2=15");
  EXPECT_EQ(wrong_with(read_by_nvml()), (Wrong{"fail gpu.lost", "warn peer_access"}));
}

TEST(NodeChecks, a_gpu_that_is_no_hopper) {
  NodeState node = healthy();
  node.nvml.gpus[2]->record.name = "NVIDIA A100-SXM4-80GB";
  node.nvml.gpus[2]->record.compute_capability = 80;
  EXPECT_EQ(wrong_with(node), Wrong{"fail gpu.model"});
  EXPECT_EQ(checks_of(node).front().gpu, "GPU-2");
  EXPECT_EQ(checks_of(node).front().seen,
            "GPU 2 (GPU-2): NVIDIA A100-SXM4-80GB has compute capability 8.0, not 9.0");
}

TEST(NodeChecks, mig_now_and_after_a_reset) {
  NodeState node = healthy();
  node.nvml.gpus[0]->record.mig_enabled = 1;
  node.nvml.gpus[1]->mig_pending = 1;
  EXPECT_EQ(wrong_with(node), (Wrong{"fail gpu.mig", "warn gpu.mig"}));
}

TEST(NodeChecks, a_gpu_in_use) {
  NodeState node = healthy();
  node.nvml.gpus[5]->processes = {4711, 4712, 4713, 4714, 4715};
  EXPECT_EQ(wrong_with(node), Wrong{"fail gpu.free"});
  EXPECT_EQ(checks_of(node).front().seen,
            "GPU 5 (GPU-5): in use by process 4711, 4712, 4713, 4714, ...");
}

TEST(NodeChecks, a_gpu_that_no_process_may_use) {
  NodeState node = healthy();
  node.nvml.gpus[0]->compute_mode = 2;
  EXPECT_EQ(wrong_with(node), Wrong{"fail gpu.free"});
}

TEST(NodeChecks, a_row_that_waits_to_be_remapped_and_one_that_could_not_be) {
  NodeState node = healthy();
  node.nvml.gpus[1]->record.remapped_rows_pending = 1;
  EXPECT_EQ(wrong_with(node), Wrong{"warn gpu.memory"});
  node.nvml.gpus[1]->remapped_rows_failed = 1;
  EXPECT_EQ(wrong_with(node), (Wrong{"fail gpu.memory", "warn gpu.memory"}));
}

TEST(NodeChecks, uncorrected_errors) {
  NodeState node = healthy();
  node.nvml.gpus[2]->record.ecc_uncorrected = 2;
  EXPECT_EQ(wrong_with(node), Wrong{"warn gpu.memory"});
}

TEST(NodeChecks, ecc_off_now_and_after_a_restart) {
  NodeState node = healthy();
  node.nvml.gpus[0]->record.ecc_enabled = 0;
  node.nvml.gpus[1]->ecc_pending = 0;
  EXPECT_EQ(wrong_with(node), (Wrong{"warn gpu.ecc", "warn gpu.ecc"}));
}

TEST(NodeChecks, what_makes_a_gpu_slower) {
  NodeState node = healthy();
  node.nvml.gpus[0]->record.power_limit_w = 650;
  node.nvml.gpus[1]->throttle_reasons = 0x40;
  node.nvml.gpus[2]->record.app_sm_mhz = 1410;
  node.nvml.gpus[3]->throttle_reasons = 0x2;
  node.nvml.gpus[4]->record.persistence = 0;
  EXPECT_EQ(wrong_with(node), (Wrong{"warn gpu.power", "warn gpu.heat", "warn gpu.clocks",
                                     "warn gpu.clocks", "warn gpu.persistence"}));
}

TEST(NodeChecks, find_nothing_where_nvml_answers) {
  const FakeNvml fake("nothing=0");
  EXPECT_EQ(wrong_with(read_by_nvml()), Wrong());
}

TEST(NodeChecks, no_check_is_ok_whose_query_nvml_refuses) {
  struct Query {
    const char* function;
    std::vector<std::string_view> checks;
  };
  const Query queries[] = {
      {"nvmlDeviceGetUUID", {"nvml"}},
      {"nvmlDeviceGetSerial", {"nvml"}},
      {"nvmlDeviceGetVbiosVersion", {"nvml"}},
      {"nvmlDeviceGetBoardPartNumber", {"nvml"}},
      {"nvmlDeviceGetPciInfo_v3", {"nvml"}},
      {"nvmlSystemGetDriverVersion", {"nvml"}},
      {"nvmlDeviceGetName", {"gpu.model"}},
      {"nvmlDeviceGetCudaComputeCapability", {"gpu.model"}},
      {"nvmlDeviceGetMigMode", {"gpu.mig"}},
      {"nvmlDeviceGetComputeRunningProcesses_v3", {"gpu.free"}},
      {"nvmlDeviceGetComputeMode", {"gpu.free"}},
      {"nvmlDeviceGetTotalEccErrors", {"gpu.memory"}},
      {"nvmlDeviceGetRemappedRows", {"gpu.memory"}},
      {"nvmlDeviceGetEccMode", {"gpu.ecc"}},
      {"nvmlDeviceGetPowerManagementLimit", {"gpu.power"}},
      {"nvmlDeviceGetPowerManagementDefaultLimit", {"gpu.power"}},
      {"nvmlDeviceGetCurrentClocksThrottleReasons", {"gpu.heat", "gpu.clocks"}},
      {"nvmlDeviceGetApplicationsClock", {"gpu.clocks"}},
      {"nvmlDeviceGetDefaultApplicationsClock", {"gpu.clocks"}},
      {"nvmlDeviceGetMaxClockInfo", {"gpu.clocks"}},
      {"nvmlDeviceGetPersistenceMode", {"gpu.persistence"}},
      {"nvmlDeviceGetNvLinkState", {"nvlink"}},
      {"nvmlDeviceGetP2PStatus", {"peer_access"}}};
  for (const Query& query : queries) {
    for (const char* code : {"=3", "=999"}) {  // not supported, unknown error
      const FakeNvml fake(std::string(query.function) + code);
      const auto checks = checks_of(read_by_nvml());
      for (const std::string_view name : query.checks)
        EXPECT_NE(check_named(checks, name).status, CheckStatus::ok) << query.function << code;
      for (const NodeCheck& check : checks)
        EXPECT_NE(check.status, CheckStatus::fail) << query.function << code << check.seen;
    }
  }
}

TEST(NodeChecks, links_that_are_down_and_memory_that_is_not_reached) {
  NodeState node = healthy();
  node.nvml.gpus[0]->record.nvlinks_up = 17;
  node.nvml.gpus[3]->peers[6] = 5;
  EXPECT_EQ(wrong_with(node), (Wrong{"warn nvlink", "warn peer_access"}));
  EXPECT_EQ(check_named(checks_of(node), "peer_access").seen,
            "GPU 3 (GPU-3) does not reach the memory of GPU 6: not supported");
}

TEST(NodeChecks, one_gpu_needs_no_links) {
  NodeState node = healthy();
  node.nvml.gpus.resize(1);
  node.nvml.gpus[0]->record.nvlinks_up = 0;
  node.visible.resize(1);
  EXPECT_EQ(wrong_with(node), Wrong());
  EXPECT_EQ(check_named(checks_of(node), "nvlink").status, CheckStatus::skip);
}

TEST(NodeChecks, no_mpirun_another_one_and_an_old_one) {
  NodeState node = healthy();
  node.mpirun = "";
  EXPECT_EQ(wrong_with(node), Wrong{"fail mpi"});
  node = healthy();
  node.mpirun_version = "HYDRA build details:";
  EXPECT_EQ(wrong_with(node), Wrong{"fail mpi"});
  node.mpirun_version = "mpirun (Open MPI) 4.0.3";
  EXPECT_EQ(wrong_with(node), Wrong{"warn mpi"});
}

TEST(NodeChecks, ranks_that_do_not_meet) {
  NodeState node = healthy();
  node.ranks = {.timed_out = true, .problem = "no answer within 30 s"};
  EXPECT_EQ(wrong_with(node), Wrong{"fail mpi_start"});
  node.ranks = {.problem = "mpirun has detected an attempt to run as root."};
  EXPECT_EQ(wrong_with(node), Wrong{"fail mpi_start"});
  EXPECT_NE(checks_of(node).front().fix.find("OMPI_ALLOW_RUN_AS_ROOT=1"), std::string::npos);
  node.ranks = {.problem = "Read -1, expected 1048576, errno = 1"};
  EXPECT_EQ(wrong_with(node), Wrong{"fail mpi_start"});
  EXPECT_NE(checks_of(node).front().fix.find("SYS_PTRACE"), std::string::npos);
}

TEST(NodeChecks, a_small_shared_memory_and_one_that_takes_nothing) {
  NodeState node = healthy();
  node.shared_memory.free_bytes = 64 << 20;  // what Docker gives
  EXPECT_EQ(wrong_with(node), Wrong{"warn shared_memory"});
  EXPECT_NE(checks_of(node).front().fix.find("--shm-size"), std::string::npos);
  node.shared_memory.free_bytes = 256 << 20;
  EXPECT_EQ(wrong_with(node), Wrong{"warn shared_memory"});  // NCCL wants more
  node.shared_memory.free_bytes = 1 << 20;
  EXPECT_EQ(wrong_with(node), Wrong{"fail shared_memory"});
  node.shared_memory.refusal = "Permission denied";
  EXPECT_EQ(wrong_with(node), Wrong{"fail shared_memory"});
  node.shared_memory = {};
  EXPECT_EQ(wrong_with(node), Wrong{"fail shared_memory"});
}

TEST(NodeChecks, limits_and_clock) {
  NodeState node = healthy();
  node.locked_bytes = 64 << 10;
  node.open_files = 512;
  node.clock_source = "hpet";
  EXPECT_EQ(wrong_with(node),
            (Wrong{"warn locked_memory", "warn open_files", "warn clock_source"}));
  node.infiniband = false;  // nothing else needs locked memory
  node.open_files = 64;
  EXPECT_EQ(wrong_with(node), (Wrong{"fail open_files", "warn clock_source"}));
}

TEST(NodeChecks, an_output_that_is_not_there_not_ours_full_and_nearly_full) {
  NodeState node = healthy();
  node.output = {};
  EXPECT_EQ(wrong_with(node), Wrong{"fail output"});
  node.output = {.folder = true, .refusal = "Permission denied", .free_bytes = kGiB};
  EXPECT_EQ(wrong_with(node), Wrong{"fail output"});
  node.output = {.folder = true, .free_bytes = 1 << 20};
  EXPECT_EQ(wrong_with(node), Wrong{"fail output"});
  node.output = {.folder = true, .free_bytes = 200 << 20};
  EXPECT_EQ(wrong_with(node), Wrong{"warn output"});
}

}  // namespace
}  // namespace tidemark
