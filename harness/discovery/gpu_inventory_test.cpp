// Which GPUs this rank could use, found without loading anything of NVIDIA into it.
#include "harness/discovery/gpu_inventory.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

const GpuProperties kGpu = {.uuid = "GPU-5f",
                            .pci = "0000:1b:00.0",
                            .name = "NVIDIA \"H200\"\n",
                            .compute_capability = 90,
                            .sm_count = 132,
                            .memory_bytes = 150'754'820'096,
                            .driver_version = 13000,
                            .runtime_version = 13000};

const GpuProperties kSlice = {.uuid = "MIG-1", .pci = "", .name = ""};

TEST(GpusJson, come_back_as_they_were) {
  const auto gpus = gpus_from_json(to_json({kGpu, kSlice}));
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].uuid, "GPU-5f");
  EXPECT_EQ(gpus[0].pci, "0000:1b:00.0");
  EXPECT_EQ(gpus[0].name, "NVIDIA \"H200\"\n");
  EXPECT_EQ(gpus[0].compute_capability, 90U);
  EXPECT_EQ(gpus[0].sm_count, 132U);
  EXPECT_EQ(gpus[0].memory_bytes, 150'754'820'096U);
  EXPECT_EQ(gpus[0].driver_version, 13000U);
  EXPECT_EQ(gpus[0].runtime_version, 13000U);
  EXPECT_EQ(gpus[1].uuid, "MIG-1");
}

TEST(GpusJson, are_one_line_even_with_a_name_that_is_no_text) {
  GpuProperties gpu = kSlice;
  gpu.name = "a\xff\nb";
  const std::string line = to_json({gpu});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(gpus_from_json(line).size(), 1U);
}

TEST(GpusJson, anything_else_is_refused) {
  EXPECT_THROW(gpus_from_json(""), Error);
  EXPECT_THROW(gpus_from_json("{}"), Error);
  EXPECT_THROW(gpus_from_json("[{\"uuid\": 7}]"), Error);
}

TEST(InventoryOf, takes_the_last_line_as_the_gpus) {
  const GpuInventory inventory =
      inventory_of({.started = true, .status = 0, .out = "noise\nnccl 2.28.3\n" + to_json({kGpu})});
  EXPECT_TRUE(inventory.nvidia_present);
  ASSERT_EQ(inventory.visible.size(), 1U);
  EXPECT_EQ(inventory.visible[0].uuid, "GPU-5f");
  EXPECT_EQ(inventory.nccl, "2.28.3");
  EXPECT_EQ(inventory.problem, "");
}

TEST(InventoryOf, says_what_the_driver_said) {
  const GpuInventory inventory =
      inventory_of({.started = true, .status = 1, .err = "first\ncuInit: system not ready\n"});
  EXPECT_TRUE(inventory.visible.empty());
  EXPECT_EQ(inventory.problem, "asking CUDA failed: cuInit: system not ready");
}

TEST(InventoryOf, says_that_time_ran_out) {
  EXPECT_EQ(inventory_of({.started = true, .timed_out = true, .status = 137}).problem,
            "CUDA did not name its GPUs within 60 s: look for Xid lines in the kernel log");
}

TEST(InventoryOf, says_which_signal_ended_the_child) {
  EXPECT_EQ(inventory_of({.started = true, .status = 139}).problem,
            "asking CUDA ended with signal 11");
}

TEST(InventoryOf, says_that_the_child_did_not_start) {
  EXPECT_EQ(inventory_of({}).problem, "the process that asks CUDA could not be started");
}

TEST(InventoryOf, gives_a_reason_where_cuda_shows_nothing) {
  setenv("CUDA_VISIBLE_DEVICES", "9", 1);
  const GpuInventory inventory = inventory_of({.started = true, .status = 0, .out = "[]\n"});
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(inventory.problem, "CUDA shows none of it: CUDA_VISIBLE_DEVICES is '9'");
}

TEST(InventoryOf, does_not_believe_a_broken_list) {
  EXPECT_NE(inventory_of({.started = true, .status = 0, .out = "[{\n"}).problem, "");
}

// Of what NVML said, the record of GPU-5f.
NvmlAnswer answer_with_mig(std::int32_t mig_enabled) {
  NvmlAnswer answer;
  answer.record.uuid = "GPU-5f";
  answer.record.serial = "165";
  answer.record.mig_enabled = mig_enabled;
  return answer;
}

TEST(WithNvml, calls_a_gpu_that_is_cut_into_slices_mig) {
  const GpuInventory inventory = with_nvml({.visible = {kGpu}}, {answer_with_mig(1)});
  EXPECT_EQ(inventory.visible[0].uuid, "MIG-5f");
  EXPECT_EQ(describe_gpu(inventory, "MIG-5f").serial, "165");
}

TEST(WithNvml, leaves_a_whole_gpu_its_name) {
  EXPECT_EQ(with_nvml({.visible = {kGpu}}, {answer_with_mig(0)}).visible[0].uuid, "GPU-5f");
  EXPECT_EQ(with_nvml({.visible = {kGpu}}, {answer_with_mig(-1)}).visible[0].uuid, "GPU-5f");
}

TEST(DescribeGpu, takes_the_gpu_of_that_name_and_the_nccl_of_all) {
  NvmlAnswer other;
  other.record.uuid = "GPU-77";
  const GpuInventory inventory{.described = {answer_with_mig(0), other}, .nccl = "2.28.3"};
  const GpuRecord record = describe_gpu(inventory, "GPU-5f");
  EXPECT_EQ(record.uuid, "GPU-5f");
  EXPECT_EQ(record.serial, "165");
  EXPECT_EQ(record.nccl, "2.28.3");
}

TEST(DescribeGpu, of_a_stranger_knows_the_name) {
  const GpuRecord record = describe_gpu({.described = {answer_with_mig(0)}}, "GPU-8");
  EXPECT_EQ(record.uuid, "GPU-8");
  EXPECT_FALSE(record.nvml);
  EXPECT_EQ(record.serial, "");
}

TEST(DescribeVirtual, is_named_by_rank_and_index) {
  const GpuRecord record = describe_virtual(3, 1);
  EXPECT_EQ(record.name, "virtual");
  EXPECT_EQ(record.uuid, "virtual-3-1");
  EXPECT_EQ(record.rank, 3U);
  EXPECT_EQ(record.local_index, 1U);
  EXPECT_FALSE(record.nvml);
}

TEST(DescribeNode, knows_this_machine) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  const NodeRecord node = describe_node(2, "Open MPI 4.1.4");
  EXPECT_EQ(node.first_rank, 2U);
  EXPECT_EQ(node.hostname, name);
  EXPECT_EQ(node.kernel.substr(0, 6), "Linux ");
  EXPECT_EQ(node.mpi, "Open MPI 4.1.4");
  EXPECT_GE(node.logical_cpus, 1U);
  EXPECT_GE(node.memory_gib, 1U);
}

}  // namespace

}  // namespace tidemark
