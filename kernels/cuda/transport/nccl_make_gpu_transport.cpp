// Which routes panels can take between the GPUs of a launch.
#include "kernels/cuda/transport/nccl.hpp"

namespace tidemark::kernels {

GpuTransport make_gpu_transport(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                double seconds, std::optional<PanelRoute> /*only*/) {
  return {
      .transport = join_nccl(id, rank, ranks, seconds), .routes = {PanelRoute::nccl}, .why = ""};
}

}  // namespace tidemark::kernels
