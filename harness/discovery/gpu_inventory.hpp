// Which GPUs this rank could use, found without creating a CUDA context in it.
#pragma once

#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

struct GpuInventory {
  bool nvidia_present = false;  // a PCI device of vendor 0x10de, or /dev/nvidia*
  std::vector<GpuProperties> visible =
      {};                    // what CUDA shows a child process, CUDA_VISIBLE_DEVICES obeyed
  std::string problem = {};  // why `visible` is empty although a GPU is there
  std::string nccl = {};     // version that would be loaded, "2.28.3"; empty where there is none
};

/// Asks a short-lived child (`tidemark __gpus`), since asking loads libcuda. Bounded by 60 s.
GpuInventory take_inventory();

/// The child's side: prints the GPUs, or says on stderr why it cannot. Returns the exit status.
int gpus_main();

/// What the child prints and the parent reads. Reading throws Error for anything else.
std::string to_json(const std::vector<GpuProperties>& gpus);
std::vector<GpuProperties> gpus_from_json(const std::string& text);

/// Fills what NVML knows of the GPU with this UUID (and the fields of `properties`); without NVML
/// `nvml` stays false. Never throws.
GpuRecord describe_gpu(const GpuProperties& properties);

/// A virtual device as a GPU record: name "virtual", uuid "virtual-<rank>-<index>".
GpuRecord describe_virtual(std::uint32_t rank, std::uint32_t index);

/// The machine this process runs on.
NodeRecord describe_node(std::uint32_t rank, const std::string& mpi_version);

/// Process ids that NVML sees on the GPU, this process's children left out. Empty without NVML.
std::vector<std::uint32_t> foreign_processes(const std::string& uuid);

}  // namespace tidemark
