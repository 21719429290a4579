// Which routes panels can take between the GPUs of a launch: found out by trying, on all ranks
// together, so that all come to the same answer.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/cuda/transport/copy_engine.hpp"
#include "kernels/cuda/transport/nccl.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {

GpuTransport make_gpu_transport(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                double seconds, std::optional<PanelRoute> only) {
  if (only && *only != PanelRoute::nccl && *only != PanelRoute::copy_engine)
    throw Error(fmt::format(
        "panels do not travel by {} between GPUs: take nccl, copy_engine or auto", name_of(*only)));
  const auto began = std::chrono::steady_clock::now();
  std::unique_ptr<Transport> nccl = join_nccl(id, rank, ranks, seconds);
  if (only == PanelRoute::nccl)
    return {.transport = std::move(nccl), .routes = {PanelRoute::nccl}, .why = "as asked"};
  auto words = std::make_unique<PeerWords>(rank, ranks);
  const std::chrono::duration<double> joined = std::chrono::steady_clock::now() - began;
  // Two exchanges, each of which may take half of what is left.
  const std::string cannot =
      open_words(*nccl, *words, rank, ranks, std::max(1.0, (seconds - joined.count()) / 2));
  if (!cannot.empty() && only) throw Error("no panels by copy_engine: " + cannot);
  if (!cannot.empty())
    return {.transport = std::move(nccl), .routes = {PanelRoute::nccl}, .why = cannot};
  GpuTransport made{.transport = std::make_unique<CopyEngineTransport>(
                        std::move(nccl), std::move(words), rank, ranks),
                    .routes = {PanelRoute::copy_engine},
                    .why = "as asked"};
  if (!only) {
    made.routes.push_back(PanelRoute::nccl);
    made.why = fmt::format("all {} GPUs can read each other's memory", ranks);
  }
  return made;
}

}  // namespace tidemark::kernels
