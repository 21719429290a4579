// Memory, read-back and waiting of a row.
#include "kernels/cuda/row.hpp"

#include <chrono>

#include "kernels/cuda/wait.hpp"

namespace tidemark {

Encoded encode_and_allocate(RowWorkspace& workspace, const TensorMapSpec& map,
                            const std::function<RowBytes()>& sizes) {
  if (workspace.hung) throw Error("an earlier kernel never ended; run this row in a new process");
  const auto encode_here = [&] {
    return encode(map, workspace.tensor.data() + kGuardBytes + map.base_offset);
  };
  grow(workspace.tensor, 4096);  // some address: a map may be refused for it, too
  const Encoded first = encode_here();
  if (first.code != CUDA_SUCCESS) return first;
  const RowBytes bytes = sizes();
  grow(workspace.answer, bytes.answer);
  grow(workspace.host, bytes.answer + bytes.tensor);
  if (workspace.tensor.size() >= bytes.tensor) return first;
  grow(workspace.tensor, bytes.tensor);
  return encode_here();
}

void read_back(RowWorkspace& workspace, std::size_t answer, std::size_t tensor) {
  cuda_check(cudaMemcpyAsync(workspace.host.data(), workspace.answer.data(), answer,
                             cudaMemcpyDeviceToHost, workspace.stream.get()),
             "read the answer back");
  if (tensor == 0) return;
  cuda_check(cudaMemcpyAsync(workspace.host.data() + answer, workspace.tensor.data(), tensor,
                             cudaMemcpyDeviceToHost, workspace.stream.get()),
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

}  // namespace tidemark
