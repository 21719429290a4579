// What a row keeps on a GPU.
#include "kernels/cuda/row.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "kernels/cuda/check.hpp"

namespace tidemark {

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

}  // namespace

std::byte* tensor_data(const RowWorkspace& workspace, MemorySource source) {
  return with_tensor(workspace, source, [](const auto& tensor) { return tensor.data(); });
}

void grow_tensor(RowWorkspace& workspace, MemorySource source, std::size_t bytes) {
  with_tensor(workspace, source, [&](auto& tensor) { grow(tensor, bytes); });
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

}  // namespace tidemark
