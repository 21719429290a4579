// Which routes panels can take between the GPUs of a launch: found out by trying, on all ranks
// together, so that all come to the same answer.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/transport/gather_rows.hpp"
#include "kernels/cuda/transport/nccl.hpp"
#include "kernels/cuda/transport/peer_transport.hpp"
#include "kernels/cuda/transport/routed.hpp"
#include "kernels/cuda/transport/stream_words.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kPanelSecondJoin = 112;

/// What a rank brings to the second communicator: the id of the first one has been used up.
struct SecondJoin {
  NcclId id{};  // rank 0's
  std::uint32_t queues = 0;
};

/// A communicator that keeps to the SMs which a product beside it leaves; null, and why, where its
/// groups would not start there.
std::unique_ptr<Transport> join_within_sms(Transport& control, std::uint32_t rank,
                                           std::uint32_t ranks, double seconds, std::string& why) {
  const SecondJoin mine{.id = rank == 0 ? make_nccl_id() : NcclId{}, .queues = stream_queues()};
  const std::vector<SecondJoin> all =
      rows_of_all(control, kPanelSecondJoin, rank, ranks, mine, seconds);
  for (std::uint32_t other = 0; other < ranks; ++other)
    if (all[other].queues < kEnoughQueues) {
      why = fmt::format(
          "CUDA_DEVICE_MAX_CONNECTIONS is {} on rank {}, and beside a product NCCL "
          "needs {}",
          all[other].queues, other, kEnoughQueues);
      return nullptr;
    }
  return join_nccl(all.front().id, rank, ranks, seconds, sms_of(PanelRoute::nccl_overlap));
}

}  // namespace

GpuTransport make_gpu_transport(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                double seconds, std::optional<PanelRoute> only) {
  if (only == PanelRoute::relay)
    throw Error(fmt::format(
        "panels do not travel by {} between GPUs: take nccl, nccl_overlap, copy_engine, "
        "tma_pull or auto",
        name_of(*only)));
  const auto began = std::chrono::steady_clock::now();
  const auto takes = [&](PanelRoute route) { return !only || only == route; };
  GpuTransport made{
      .transport = join_nccl(id, rank, ranks, seconds), .routes = {}, .why = "as asked"};
  const std::chrono::duration<double> joined = std::chrono::steady_clock::now() - began;
  // Four exchanges and joins, each of which may take a quarter of what is left.
  const double each = std::max(1.0, (seconds - joined.count()) / 4);
  if (takes(PanelRoute::copy_engine) || takes(PanelRoute::tma_pull)) {
    auto words = std::make_unique<PeerWords>(rank, ranks);
    made.why = open_words(*made.transport, *words, rank, ranks, each);
    if (!made.why.empty() && only)
      throw Error(fmt::format("no panels by {}: {}", name_of(*only), made.why));
    if (made.why.empty()) {
      made.transport =
          std::make_unique<PeerTransport>(std::move(made.transport), std::move(words), rank, ranks);
      for (const PanelRoute route : {PanelRoute::copy_engine, PanelRoute::tma_pull})
        if (takes(route)) made.routes.push_back(route);
      made.why = fmt::format("all {} GPUs can read each other's memory", ranks);
    }
  }
  if (takes(PanelRoute::nccl_overlap)) {
    std::string why;
    std::unique_ptr<Transport> beside = join_within_sms(*made.transport, rank, ranks, each, why);
    if (beside == nullptr && only) throw Error("no panels by nccl_overlap: " + why);
    if (beside == nullptr) {
      if (made.routes.empty()) made.why += "; " + why;
    } else {
      made.transport = std::make_unique<RoutedTransport>(
          std::move(made.transport), PanelRoute::nccl_overlap, std::move(beside));
      made.routes.push_back(PanelRoute::nccl_overlap);
    }
  }
  if (takes(PanelRoute::nccl)) made.routes.push_back(PanelRoute::nccl);
  return made;
}

}  // namespace tidemark::kernels
