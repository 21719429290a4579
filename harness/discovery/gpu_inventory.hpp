// Which GPUs this rank could use and what NVML says of them, found without loading anything of
// NVIDIA into it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/child_process.hpp"
#include "kernels/device.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

// NVML is asked in processes of its own, never in a supervisor: the library maps libcuda by itself,
// and a call into it may never return.

/// How NVML is reached; tests put their own into all of it.
struct NvmlChild {
  std::string program = "/proc/self/exe";  // a tidemark
  std::string library = "libnvidia-ml.so.1";
  double seconds = 10;  // to answer all questions at once
};

/// One GPU as CUDA and NVML describe it.
struct NvmlAnswer {
  GpuRecord record = {};  // `nvml` stays false where NVML did not answer
  /// Process ids with a compute context on the GPU; those of the asking process and of what it
  /// started are left out. Empty without NVML.
  std::vector<std::uint32_t> foreign_processes = {};
};

/// Asks a short-lived child (`tidemark __nvml`) about these GPUs. One answer a GPU, in their order;
/// what NVML does not say in time stays unknown. Never throws for a driver that fails, and returns
/// within two seconds of `seconds`.
std::vector<NvmlAnswer> ask_nvml(const std::vector<GpuProperties>& gpus,
                                 const NvmlChild& child = {});

/// The child's side: `__nvml LIBRARY GPUS`, the GPUs as JSON. Prints a line for each and returns
/// the exit status.
int nvml_main(int argc, char** argv);

struct GpuInventory {
  bool nvidia_present = false;  // a PCI device of vendor 0x10de, or /dev/nvidia*
  std::vector<GpuProperties> visible =
      {};  // what CUDA shows a child process, CUDA_VISIBLE_DEVICES obeyed
  std::vector<NvmlAnswer> described = {};  // one for each of `visible`
  std::string problem = {};                // why `visible` is empty although a GPU is there
  std::string nccl = {};  // version that would be loaded, "2.28.3"; empty where there is none
};

/// Asks two short-lived children, since both answers load libcuda: `tidemark __gpus` which GPUs
/// there are (at most 60 s), then `tidemark __nvml` what they are and who uses them.
GpuInventory take_inventory(const NvmlChild& nvml = {});

/// "GPU-... is held by process 4711", for each process that uses one of them.
std::vector<std::string> busy_gpus(const GpuInventory& inventory);

/// The side of the first child: prints the GPUs, or says on stderr why it cannot. Returns the exit
/// status.
int gpus_main();

/// What the child prints and the parent reads. Reading throws Error for anything else.
std::string to_json(const std::vector<GpuProperties>& gpus);
std::vector<GpuProperties> gpus_from_json(const std::string& text);

/// The record of a visible GPU; `nvml` is false where NVML said nothing. Of a GPU that is not in
/// the inventory only the UUID is known.
GpuRecord describe_gpu(const GpuInventory& inventory, const std::string& uuid);

/// A virtual device as a GPU record: name "virtual", uuid "virtual-<rank>-<index>".
GpuRecord describe_virtual(std::uint32_t rank, std::uint32_t index);

/// The machine this process runs on.
NodeRecord describe_node(std::uint32_t rank, const std::string& mpi_version);

// What to make of the answers of the children that ask CUDA and NVML.

/// The inventory of a machine that has a GPU, from what the child said or failed to say.
GpuInventory inventory_of(const ChildAnswer& answer);

/// The inventory with one answer for each visible GPU. A GPU that is cut into slices is called
/// "MIG-..." from here on.
GpuInventory with_nvml(GpuInventory inventory, std::vector<NvmlAnswer> answers);

}  // namespace tidemark
