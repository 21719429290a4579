// What a row keeps on a GPU.
#include "kernels/cuda/row.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>

#include "kernels/cuda/check.hpp"

namespace tidemark::kernels {

// Memory, read-back and waiting of a row.

namespace {

/// Calls `use` with the workspace's buffer for memory from `source`.
template <class Workspace, class Use>
auto with_tensor(Workspace& workspace, MemorySource source, const Use& use) {
  switch (source) {
    case MemorySource::async:
      return use(workspace.async_tensor);
    case MemorySource::pinned:
      return use(workspace.pinned_tensor);
    case MemorySource::mapped:
      return use(workspace.mapped_tensor);
    case MemorySource::device:
      break;
    case MemorySource::edge:
    case MemorySource::peer:
      throw Error("memory of a peer is not the workspace's");
  }
  return use(workspace.tensor);
}

void refuse_after_hang(const RowWorkspace& workspace) {
  if (workspace.hung) throw Error("an earlier kernel never ended; run this row in a new process");
}

}  // namespace

Encoded encode_and_allocate(RowWorkspace& workspace, const TensorMapSpec& map,
                            const std::function<RowBytes()>& sizes, MemorySource source) {
  refuse_after_hang(workspace);
  return with_tensor(workspace, source, [&](auto& tensor) {
    const auto encode_here = [&] {
      return encode(map, tensor.data() + kGuardBytes + map.base_offset);
    };
    grow(tensor, 4096);  // some address: a map may be refused for it, too
    const Encoded first = encode_here();
    if (first.code != CUDA_SUCCESS) return first;
    const RowBytes bytes = sizes();
    grow(workspace.answer, bytes.answer);
    grow(workspace.host, bytes.answer + bytes.tensor);
    if (tensor.size() >= bytes.tensor) return first;
    grow(tensor, bytes.tensor);
    return encode_here();
  });
}

Encoded encode_outside(RowWorkspace& workspace, const TensorMapSpec& map, std::size_t answer,
                       std::byte* allocation) {
  refuse_after_hang(workspace);
  grow(workspace.answer, answer);
  grow(workspace.host, answer);
  return encode(map, allocation + kGuardBytes + map.base_offset);
}

std::byte* tensor_data(const RowWorkspace& workspace, MemorySource source) {
  return with_tensor(workspace, source, [](const auto& tensor) { return tensor.data(); });
}

void grow_tensor(RowWorkspace& workspace, MemorySource source, std::size_t bytes) {
  with_tensor(workspace, source, [&](auto& tensor) { grow(tensor, bytes); });
}

void read_back(RowWorkspace& workspace, std::size_t answer, std::size_t tensor,
               MemorySource source) {
  cuda_check(cudaMemcpyAsync(workspace.host.data(), workspace.answer.data(), answer,
                             cudaMemcpyDeviceToHost, workspace.stream.get()),
             "read the answer back");
  if (tensor == 0) return;
  // Default: pinned memory is the host's, all other sources are the device's.
  cuda_check(cudaMemcpyAsync(workspace.host.data() + answer, tensor_data(workspace, source), tensor,
                             cudaMemcpyDefault, workspace.stream.get()),
             "read the tensor back");
}

bool wait_for_launch(RowWorkspace& workspace) {
  if (wait_for_stream(workspace.stream.get(), kLaunchBoundS)) return true;
  workspace.hung = true;
  return false;
}

std::string hung_note() {
  return fmt::format("the kernel did not end within {} s though all its waits are bounded",
                     kLaunchBoundS);
}

double unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Asks the runtime for the opt-in limit and raises each kernel to it.

std::uint32_t allow_all_shared_memory(std::span<const void* const> kernels) {
  int device = 0;
  int per_block = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  auto smallest = static_cast<std::uint32_t>(per_block);
  for (const void* const kernel : kernels) {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel), "load a kernel of a tile operation");
    const int dynamic = per_block - static_cast<int>(attributes.sharedSizeBytes);
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
               "allow a tile operation all shared memory");
    smallest = std::min(smallest, static_cast<std::uint32_t>(dynamic));
  }
  return smallest;
}

}  // namespace tidemark::kernels
