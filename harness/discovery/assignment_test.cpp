// Tests of who gets which GPU, one rule each, and of products that fit.
#include "harness/discovery/assignment.hpp"

#include <gtest/gtest.h>

#include "harness/base/errors.hpp"

namespace tidemark {
namespace {

GpuProperties gpu_called(const std::string& uuid, const std::string& name,
                         std::uint32_t capability) {
  GpuProperties gpu;
  gpu.uuid = uuid;
  gpu.name = name;
  gpu.compute_capability = capability;
  return gpu;
}

GpuProperties hopper(const std::string& uuid) { return gpu_called(uuid, "NVIDIA H200", 90); }

RankView gpu_rank(const std::string& machine, const std::vector<GpuProperties>& visible) {
  return {.machine = machine, .nvidia_present = true, .visible = visible};
}

RankView plain_rank(const std::string& machine) { return {.machine = machine}; }

const std::vector<GpuProperties> kTwo = {hopper("GPU-a0"), hopper("GPU-a1")};

std::vector<std::vector<std::string>> uuids_of(const Assignment& assignment) {
  std::vector<std::vector<std::string>> uuids;
  for (const auto& gpus : assignment.gpus) {
    auto& mine = uuids.emplace_back();
    for (const GpuProperties& gpu : gpus) mine.push_back(gpu.uuid);
  }
  return uuids;
}

std::string environment_error_of(const std::vector<RankView>& ranks, const LaunchOptions& options,
                                 bool launched) {
  try {
    assign_gpus(ranks, options, launched);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "no EnvironmentError";
}

std::string usage_error_of(const std::vector<RankView>& ranks, const LaunchOptions& options,
                           bool launched = false) {
  try {
    assign_gpus(ranks, options, launched);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

using Uuids = std::vector<std::vector<std::string>>;
using Lines = std::vector<std::string>;

TEST(AssignGpus, auto_means_gpus) {
  EXPECT_EQ(environment_error_of({plain_rank("a")}, {}, false),
            "rank 0 on host a has no NVIDIA device: start it on a GPU machine, or give --device "
            "virtual");
}

TEST(AssignGpus, auto_does_not_take_the_virtual_device_beside_an_unusable_gpu) {
  RankView rank = gpu_rank("a", {});
  rank.problem = "driver not loaded";
  EXPECT_EQ(environment_error_of({rank}, {}, false),
            "rank 0 on host a has an NVIDIA device but no usable GPU: driver not loaded (--device "
            "virtual does without)");
}

TEST(AssignGpus, a_rank_without_a_gpu_is_left_out_and_gets_no_virtual_device) {
  const Assignment assignment = assign_gpus({gpu_rank("a", kTwo), plain_rank("b")}, {}, true);
  EXPECT_EQ(assignment.kind, DeviceKind::cuda);
  EXPECT_EQ(uuids_of(assignment), Uuids({{"GPU-a0"}, {}}));
  EXPECT_EQ(assignment.left_out, Lines({"rank 1 on host b has no NVIDIA device"}));
}

TEST(AssignGpus, a_rank_whose_gpu_cannot_be_used_is_left_out_and_the_others_keep_theirs) {
  const std::vector<GpuProperties> three = {hopper("GPU-a0"), hopper("MIG-a1"), hopper("GPU-a2")};
  const Assignment assignment = assign_gpus({3, gpu_rank("a", three)}, {}, true);
  EXPECT_EQ(uuids_of(assignment), Uuids({{"GPU-a0"}, {}, {"GPU-a2"}}));
  EXPECT_EQ(assignment.left_out, Lines({"GPU 1 (NVIDIA H200) of host a is a MIG slice"}));
}

TEST(AssignGpus, one_rank_without_a_launcher_drives_those_that_can_be_used) {
  RankView rank = gpu_rank("a", kTwo);
  rank.busy = {"GPU-a0 is held by process 4711"};
  const Assignment assignment = assign_gpus({rank}, {}, false);
  EXPECT_EQ(uuids_of(assignment), Uuids({{"GPU-a1"}}));
  EXPECT_EQ(assignment.left_out,
            Lines({"GPU 0 (NVIDIA H200) of host a is in use: GPU-a0 is held by process 4711"}));
}

TEST(AssignGpus, with_strict_gpus_nothing_is_left_out) {
  EXPECT_EQ(
      environment_error_of({gpu_rank("a", kTwo), plain_rank("b")}, {.strict_gpus = true}, true),
      "rank 1 on host b has no NVIDIA device: start it on a GPU machine, or give --device "
      "virtual");
  EXPECT_EQ(
      environment_error_of({gpu_rank("a", {hopper("GPU-a0"), gpu_called("GPU-a9", "A100", 80)})},
                           {.strict_gpus = true}, false),
      "GPU 1 (A100) of host a is sm_80; tidemark needs sm_90 (Hopper): choose others with --gpus");
}

TEST(AssignGpus, fewer_gpus_on_a_machine_than_expected_are_refused) {
  const std::vector<RankView> ranks = {gpu_rank("a", kTwo), gpu_rank("b", {hopper("GPU-b0")}),
                                       gpu_rank("a", kTwo)};
  EXPECT_EQ(environment_error_of(ranks, {.expect_gpus = 1}, true), "no EnvironmentError");
  EXPECT_EQ(environment_error_of(ranks, {.expect_gpus = 2}, true),
            "host b has 1 usable GPU, --expect-gpus 2; run 'tidemark doctor' there");
}

TEST(AssignGpus, a_gpu_that_cannot_be_used_is_not_one_of_those_expected) {
  RankView rank = gpu_rank("a", kTwo);
  rank.busy = {"GPU-a1 is held by process 4711"};
  EXPECT_EQ(environment_error_of({rank, rank}, {.expect_gpus = 2}, true),
            "host a has 1 usable GPU, --expect-gpus 2: GPU 1 (NVIDIA H200) of host a is in use: "
            "GPU-a1 is held by process 4711; run 'tidemark doctor' there");
}

TEST(AssignGpus, expected_gpus_may_be_virtual) {
  EXPECT_EQ(environment_error_of({plain_rank("a"), plain_rank("a")},
                                 {.device = DeviceChoice::virtual_device, .expect_gpus = 3}, true),
            "host a has 2 usable GPUs, --expect-gpus 3; run 'tidemark doctor' there");
}

TEST(AssignGpus, virtual_is_obeyed_where_gpus_are) {
  const Assignment assignment =
      assign_gpus({gpu_rank("a", kTwo)}, {.device = DeviceChoice::virtual_device}, false);
  EXPECT_EQ(assignment.kind, DeviceKind::virtual_device);
}

TEST(AssignGpus, gpus_says_how_many_virtual_devices_there_are) {
  const Assignment assignment =
      assign_gpus({plain_rank("a")}, {.device = DeviceChoice::virtual_device, .gpus = "3"}, false);
  ASSERT_EQ(assignment.gpus.size(), 1U);
  EXPECT_EQ(assignment.gpus[0].size(), 3U);
}

TEST(AssignGpus, no_virtual_devices_at_all_is_refused) {
  EXPECT_EQ(
      usage_error_of({plain_rank("a")}, {.device = DeviceChoice::virtual_device, .gpus = "0"}),
      "--gpus '0': for the virtual device it is how many there are, 1 to 1024");
  EXPECT_EQ(
      usage_error_of({plain_rank("a")}, {.device = DeviceChoice::virtual_device, .gpus = "1,2"})
          .substr(0, 12),
      "--gpus '1,2'");
}

TEST(AssignGpus, more_ranks_than_virtual_devices_are_refused) {
  EXPECT_EQ(environment_error_of({plain_rank("a"), plain_rank("a")},
                                 {.device = DeviceChoice::virtual_device, .gpus = "1"}, true),
            "2 ranks but --gpus 1: one rank drives one virtual device");
}

TEST(AssignGpus, virtual_devices_without_a_rank_are_refused) {
  EXPECT_EQ(usage_error_of({plain_rank("a"), plain_rank("a")},
                           {.device = DeviceChoice::virtual_device, .gpus = "4"}, true),
            "2 ranks but --gpus 4: one rank drives one virtual device; start 4 ranks");
}

TEST(AssignGpus, gpus_that_are_named_and_have_no_rank_are_refused) {
  EXPECT_EQ(usage_error_of({gpu_rank("a", kTwo)}, {.gpus = "0,1"}, true),
            "--gpus '0,1' names GPU 1 of host a, and there is no rank for it; start one a GPU");
  EXPECT_EQ(usage_error_of({gpu_rank("a", kTwo)}, {.gpus = "1"}, true), "no UsageError");
}

TEST(AssignGpus, cuda_without_any_gpu_is_refused) {
  EXPECT_EQ(environment_error_of({plain_rank("a")}, {.device = DeviceChoice::cuda}, false),
            "rank 0 on host a has no NVIDIA device: start it on a GPU machine, or give --device "
            "virtual");
}

TEST(AssignGpus, without_a_launcher_one_rank_drives_all) {
  EXPECT_EQ(uuids_of(assign_gpus({gpu_rank("a", kTwo)}, {}, false)), Uuids({{"GPU-a0", "GPU-a1"}}));
}

TEST(AssignGpus, under_a_launcher_each_rank_takes_the_next_of_its_machine) {
  const std::vector<GpuProperties> others = {hopper("GPU-b0"), hopper("GPU-b1")};
  EXPECT_EQ(uuids_of(assign_gpus({gpu_rank("a", kTwo), gpu_rank("b", others), gpu_rank("a", kTwo)},
                                 {}, true)),
            Uuids({{"GPU-a0"}, {"GPU-b0"}, {"GPU-a1"}}));
}

TEST(AssignGpus, ranks_that_see_one_gpu_each_take_it) {
  EXPECT_EQ(uuids_of(assign_gpus(
                {gpu_rank("a", {hopper("GPU-a1")}), gpu_rank("a", {hopper("GPU-a0")})}, {}, true)),
            Uuids({{"GPU-a1"}, {"GPU-a0"}}));
}

TEST(AssignGpus, more_ranks_than_gpus_are_refused) {
  std::vector<RankView> ranks(4, gpu_rank("0b1e-77", kTwo));
  for (RankView& rank : ranks) rank.host = "node07";
  EXPECT_EQ(environment_error_of(ranks, {}, true),
            "4 ranks on host node07 but 2 GPUs: start at most 2 ranks there");
}

TEST(AssignGpus, two_ranks_on_one_gpu_are_refused_even_from_two_machines) {
  const RankView same = gpu_rank("a", {hopper("GPU-a0")});
  EXPECT_EQ(environment_error_of({same, same}, {}, true),
            "2 ranks on host a but 1 GPU: start at most 1 rank there");
  EXPECT_EQ(environment_error_of({same, gpu_rank("b", {hopper("GPU-a0")})}, {}, true),
            "rank 1 on host b sees only GPUs that earlier ranks took: show every rank all GPUs, or "
            "each one its own (CUDA_VISIBLE_DEVICES)");
}

TEST(AssignGpus, gpus_names_them_by_index_uuid_or_a_part_of_it) {
  const RankView rank = gpu_rank("a", kTwo);
  EXPECT_EQ(uuids_of(assign_gpus({rank}, {.gpus = "1"}, false)), Uuids({{"GPU-a1"}}));
  EXPECT_EQ(uuids_of(assign_gpus({rank}, {.gpus = "GPU-a1,0"}, false)),
            Uuids({{"GPU-a1", "GPU-a0"}}));
  EXPECT_EQ(uuids_of(assign_gpus({rank}, {.gpus = "a0"}, false)), Uuids({{"GPU-a0"}}));
}

TEST(AssignGpus, gpus_that_names_none_several_or_one_twice_is_refused) {
  const RankView rank = gpu_rank("a", kTwo);
  EXPECT_EQ(usage_error_of({rank}, {.gpus = "2"}),
            "--gpus '2': no GPU is called that; give indexes 0 to 1 or UUIDs (nvidia-smi -L)");
  EXPECT_EQ(usage_error_of({rank}, {.gpus = "GPU-a"}),
            "--gpus 'GPU-a' names several GPUs on host a: write more of it");
  EXPECT_EQ(usage_error_of({rank}, {.gpus = "0,a0"}), "--gpus '0,a0' names GPU 0 of host a twice");
  EXPECT_EQ(usage_error_of({rank}, {.gpus = "0,"}).substr(0, 9), "--gpus ''");
}

TEST(AssignGpus, a_uuid_need_be_on_one_machine_only_but_its_other_ranks_have_none_then) {
  const std::vector<RankView> ranks = {gpu_rank("a", kTwo), gpu_rank("b", {hopper("GPU-b0")})};
  EXPECT_EQ(environment_error_of(ranks, {.gpus = "GPU-a0"}, true),
            "1 rank on host b but 0 GPUs chosen by --gpus: start at most 0 ranks there");
}

TEST(AssignGpus, a_gpu_that_is_not_hopper_is_refused_by_name) {
  const GpuProperties ampere = gpu_called("GPU-a9", "NVIDIA A100", 80);
  EXPECT_EQ(environment_error_of({gpu_rank("a", {ampere})}, {}, false),
            "GPU 0 (NVIDIA A100) of host a is sm_80; tidemark needs sm_90 (Hopper): choose others "
            "with --gpus");
}

TEST(AssignGpus, a_gpu_that_is_not_hopper_may_stay_when_not_chosen) {
  const GpuProperties ampere = gpu_called("GPU-a9", "NVIDIA A100", 80);
  EXPECT_EQ(
      uuids_of(assign_gpus({gpu_rank("a", {ampere, hopper("GPU-a0")})}, {.gpus = "1"}, false)),
      Uuids({{"GPU-a0"}}));
}

TEST(AssignGpus, a_mig_slice_is_refused) {
  EXPECT_EQ(environment_error_of({gpu_rank("a", {hopper("MIG-a0")})}, {}, false),
            "GPU 0 (NVIDIA H200) of host a is a MIG slice; tidemark needs whole GPUs: switch MIG "
            "off (nvidia-smi -mig 0), or choose others with --gpus");
}

TEST(AssignGpus, a_gpu_that_somebody_else_holds_is_refused_when_chosen) {
  RankView rank = gpu_rank("a", kTwo);
  rank.busy = {"GPU-a1 is held by process 4711"};
  EXPECT_EQ(environment_error_of({rank}, {.gpus = "0,1"}, false),
            "GPU 1 (NVIDIA H200) of host a is in use: GPU-a1 is held by process 4711; wait for it "
            "to end, or choose others with --gpus");
  EXPECT_EQ(uuids_of(assign_gpus({rank}, {.gpus = "0"}, false)), Uuids({{"GPU-a0"}}));
}

// Products that fit to the byte, and those that do not.

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kContext = 2 * kGiB;

ProductOptions square(std::uint64_t edge) { return {.shape = {.m = edge, .n = edge, .k = edge}}; }

std::vector<SlotMemory> one_machine(std::size_t slots, std::uint64_t gpu, std::uint64_t free) {
  return std::vector<SlotMemory>(
      slots, {.machine = "boot-1", .host = "node07", .gpu_bytes = gpu, .machine_free = free});
}

std::string refusal(const ProductOptions& product, DeviceKind device,
                    const std::vector<SlotMemory>& slots) {
  try {
    check_product_memory(product, device, slots);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ProductMemory, IsNotAskedForWithoutSizes) {
  EXPECT_EQ(refusal({.grid = {.rows = 1, .cols = 2}}, DeviceKind::cuda, one_machine(2, 1, 1)), "");
}

TEST(ProductMemory, HoldsWhatFitsToTheByte) {
  const std::uint64_t needed = memory_of(square(65536), 0, 2).device + kContext;
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, one_machine(2, needed, 0)), "");
  EXPECT_NE(refusal(square(65536), DeviceKind::cuda, one_machine(2, needed - 1, 0)), "");
}

TEST(ProductMemory, NamesTheGpuThatIsTooSmall) {
  // On 2 x 4 a rank has half of A, a quarter of B and an eighth of C in fp32: 2 x 400000^2 bytes.
  std::vector<SlotMemory> slots = one_machine(8, 400 * kGiB, 0);
  slots[5].gpu_bytes = 139 * kGiB;
  EXPECT_EQ(refusal(square(400000), DeviceKind::cuda, slots),
            "--n 400000: 300.1 GiB per GPU, 2.0 GiB of it for CUDA and NCCL, but GPU 5 has 139.0 "
            "GiB; give a smaller product or more ranks");
}

TEST(ProductMemory, NamesAllSizesOfWhatIsNoSquare) {
  const ProductOptions product{.shape = {.m = 1048576, .n = 1048576, .k = 64}};
  EXPECT_EQ(refusal(product, DeviceKind::cuda, one_machine(1, 80 * kGiB, 0))
                .rfind("--m 1048576 --n 1048576 --k 64: 4098.3 GiB per GPU, ", 0),
            0U);
}

TEST(ProductMemory, AddsUpWhatTheRanksOfAMachineNeedOfIt) {
  // C of 65536 x 65536 is 8 GiB in bf16 and 16 GiB in fp32, all of it on one machine.
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, one_machine(4, 0, 24 * kGiB)), "");
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, one_machine(4, 0, 24 * kGiB - 1)),
            "--n 65536: 24.0 GiB of host memory, but node07 has 23.9 GiB free; give a smaller "
            "product or more machines");
  std::vector<SlotMemory> two = one_machine(4, 0, 12 * kGiB);
  two[2].machine = two[3].machine = "boot-2";
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, two), "");
}

TEST(ProductMemory, OfVirtualDevicesIsTheHosts) {
  const ProductMemory needs = memory_of(square(1024), 0, 1);
  EXPECT_EQ(refusal(square(1024), DeviceKind::virtual_device,
                    one_machine(1, 1, needs.device + needs.host)),
            "");
  EXPECT_NE(refusal(square(1024), DeviceKind::virtual_device,
                    one_machine(1, 1, needs.device + needs.host - 1)),
            "");
}

}  // namespace

}  // namespace tidemark
