// Tests of what doctor reads: files under a root of the test, a stand-in NVML, mpiruns that are
// shell scripts, and the built program as the child that asks.
#include "harness/doctor/node_state.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/testing/fake_nvml.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// A node whose files are in a scratch folder; without any there is no NVIDIA device.
class Node {
 public:
  void write(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(folder_.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void write_program(const std::string& name, const std::string& script) const {
    write(name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(fs::path(folder_.path()) / name, fs::perms::owner_all);
  }
  NodePlace place() const {
    return {.root = folder_.path(),
            .program = TIDEMARK_BINARY,
            .nvml = TIDEMARK_FAKE_NVML,
            .path = folder_.file("bin"),
            .out = folder_.path()};
  }

 private:
  ScratchFolder folder_;
};

TEST(NodeState, of_a_machine_with_nothing) {
  const Node node;
  const NodeState state = read_node(node.place());
  EXPECT_FALSE(state.nvidia_present);
  EXPECT_EQ(state.mpirun, "");
  EXPECT_EQ(state.clock_source, "");
  EXPECT_FALSE(state.infiniband);
  EXPECT_FALSE(state.shared_memory.folder);
  EXPECT_TRUE(state.output.folder);
  EXPECT_GT(state.output.free_bytes, 0U);
}

TEST(NodeState, reads_files_of_the_kernel) {
  const Node node;
  node.write("sys/module/nvidia/version", "580.105.08\n");
  node.write("sys/bus/pci/devices/0000:1b:00.0/vendor", "0x10de\n");
  node.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  node.write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
  node.write("dev/shm/x", "");
  const NodeState state = read_node(node.place());
  EXPECT_TRUE(state.nvidia_present);
  EXPECT_EQ(state.driver_module, "580.105.08");
  EXPECT_EQ(state.clock_source, "hpet");
  EXPECT_TRUE(state.infiniband);
  EXPECT_TRUE(state.shared_memory.folder);
  EXPECT_EQ(state.shared_memory.refusal, "");
}

TEST(NodeState, does_not_look_for_gpus_where_they_are_not_asked_for) {
  const Node node;
  node.write("dev/nvidia0", "");
  NodePlace place = node.place();
  place.device = DeviceChoice::virtual_device;
  const NodeState state = read_node(place);
  EXPECT_FALSE(state.gpus_asked);
  EXPECT_FALSE(state.nvml.answered);
}

TEST(NodeState, says_why_nothing_can_be_written_to_the_output) {
  const Node node;
  NodePlace place = node.place();
  place.out = place.out + "/no/such/folder";
  const NodeState state = read_node(place);
  EXPECT_FALSE(state.output.folder);
  EXPECT_EQ(state.output.refusal, "No such file or directory");
}

TEST(NodeState, reads_the_version_of_mpirun_and_why_it_starts_nothing) {
  const Node node;
  node.write_program("bin/mpirun",
                     "[ \"$1\" = --version ] && echo 'mpirun (Open MPI) 9.9.9' && exit 0\n"
                     "echo ------ >&2; echo 'no slots' >&2; exit 1");
  const NodeState state = read_node(node.place());
  EXPECT_EQ(state.mpirun_version, "mpirun (Open MPI) 9.9.9");
#ifdef TIDEMARK_WITH_MPI
  EXPECT_EQ(state.ranks.met, 0U);
  EXPECT_EQ(state.ranks.problem, "no slots");
#endif
}

TEST(NodeState, starts_no_ranks_as_a_rank) {
  const Node node;
  node.write_program("bin/mpirun", "echo started >&2; exit 1");
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  const NodeState state = read_node(node.place());
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_TRUE(state.is_rank);
  EXPECT_EQ(state.ranks.problem, "");
}

TEST(ProbeGpus, reads_the_state_of_each_gpu_and_which_cannot_be_opened) {
  const NvmlStates states = probe_gpus(TIDEMARK_BINARY, TIDEMARK_FAKE_NVML);
  EXPECT_EQ(states.problem, "");
  ASSERT_EQ(states.gpus.size(), 2U);
  EXPECT_FALSE(states.gpus[1].has_value());
  ASSERT_TRUE(states.gpus[0].has_value());
  const GpuState& gpu = *states.gpus[0];
  EXPECT_EQ(gpu.record.uuid, "GPU-fake");
  EXPECT_EQ(gpu.record.name, "NVIDIA H200");
  EXPECT_EQ(gpu.record.compute_capability, 90U);
  EXPECT_EQ(gpu.record.driver, "580.105.08");
  EXPECT_EQ(gpu.record.remapped_rows_pending, 1U);
  EXPECT_EQ(gpu.processes.size(), 70U);
  EXPECT_EQ(gpu.compute_mode, 3);
  EXPECT_EQ(gpu.ecc_pending, 0);
  EXPECT_EQ(gpu.mig_pending, 1);
  EXPECT_EQ(gpu.refused, std::vector<std::string>{});
  EXPECT_EQ(gpu.remapped_rows_failed, 9U);
  EXPECT_EQ(gpu.nvlinks, 18U);
  EXPECT_EQ(gpu.record.nvlinks_up, 4U);
  EXPECT_EQ(gpu.default_app_sm_mhz, 1980U);
  EXPECT_EQ(gpu.throttle_reasons, 4U);
  EXPECT_EQ(gpu.peers, (std::vector<std::int32_t>{-1, -1}));  // itself, and one that is lost
}

TEST(ProbeGpus, names_what_is_refused_and_a_gpu_without_a_uuid_by_its_number) {
  const FakeNvml fake("nvmlDeviceGetUUID=999");
  const NvmlStates states = probe_gpus(TIDEMARK_BINARY, TIDEMARK_FAKE_NVML);
  ASSERT_EQ(states.gpus.size(), 2U);
  EXPECT_EQ(states.gpus[0]->refused, std::vector<std::string>{"nvmlDeviceGetUUID"});
  EXPECT_EQ(states.gpus[0]->record.uuid, "0");
}

TEST(ProbeGpus, says_why_nvml_does_not_start) {
  const FakeNvml fake("refuses");
  const NvmlStates states = probe_gpus(TIDEMARK_BINARY, TIDEMARK_FAKE_NVML);
  EXPECT_FALSE(states.answered);
  EXPECT_EQ(states.problem, "nvmlInit_v2 ended with 9: Driver Not Loaded");
}

TEST(ProbeGpus, says_that_there_is_no_nvml) {
  const NvmlStates states = probe_gpus(TIDEMARK_BINARY, "libno-such-thing.so.1");
  EXPECT_FALSE(states.answered);
  EXPECT_NE(states.problem.find("libno-such-thing.so.1"), std::string::npos) << states.problem;
}

TEST(ProbeLibrary, names_a_library_and_its_version) {
  // Any library with a function of that form will do.
  const FoundLibrary found =
      probe_library(TIDEMARK_BINARY, "libz.so.1", "zlibCompileFlags", VersionCall::returned);
  EXPECT_TRUE(found.loads) << found.problem;
  EXPECT_NE(found.path.find("libz.so"), std::string::npos) << found.path;
}

TEST(ProbeLibrary, says_why_one_does_not_load) {
  const FoundLibrary found =
      probe_library(TIDEMARK_BINARY, "libno-such-thing.so.1", "version", VersionCall::by_pointer);
  EXPECT_FALSE(found.loads);
  EXPECT_NE(found.problem.find("libno-such-thing.so.1"), std::string::npos) << found.problem;
}

}  // namespace
}  // namespace tidemark
