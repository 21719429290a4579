// Which routes panels can take between the GPUs of a launch: found out by trying, on all ranks
// together, so that all come to the same answer.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/transport/gather.hpp"
#include "kernels/cuda/transport/nccl.hpp"
#include "kernels/cuda/transport/peer_transport.hpp"
#include "kernels/error.hpp"

namespace tidemark {

RoutedTransport::RoutedTransport(std::unique_ptr<Transport> usual, PanelRoute route,
                                 std::unique_ptr<Transport> own)
    : usual_(std::move(usual)), route_(route), own_(std::move(own)) {}

void RoutedTransport::start(const PanelBuffer& panel) {
  const bool own = panel.arrived != nullptr && panel.route == route_;
  {
    const std::lock_guard lock(mutex_);
    if (own)
      by_own_.insert(panel.id);
    else
      by_own_.erase(panel.id);
  }
  (own ? own_ : usual_)->start(panel);
}

bool RoutedTransport::ready(std::uint32_t id, std::size_t index) {
  std::unique_lock lock(mutex_);
  const bool own = by_own_.count(id) != 0;
  lock.unlock();
  return (own ? own_ : usual_)->ready(id, index);
}

void RoutedTransport::abort() noexcept {
  own_->abort();
  usual_->abort();
}

namespace {

constexpr std::uint32_t kPanelSecondJoin = 112;
constexpr std::uint32_t kPanelQueues = 113;

/// Which rank's streams have too few queues for copies beside a product, the same on all; or
/// nothing.
std::string too_few_queues(Transport& control, std::uint32_t rank, std::uint32_t ranks,
                           double seconds) {
  const std::vector<std::uint32_t> queues =
      rows_of_all(control, kPanelQueues, rank, ranks, stream_queues(), seconds);
  for (std::uint32_t other = 0; other < ranks; ++other)
    if (queues[other] < kEnoughQueues)
      return fmt::format(
          "rank {} counts on {} queues for its streams (CUDA_DEVICE_MAX_CONNECTIONS; 1 under MPS, "
          "CUDA_LAUNCH_BLOCKING and profilers), and beside a product {} are needed",
          other, queues[other], kEnoughQueues);
  return {};
}

/// Of a communicator that is still to be made: the id of the first one has been used up.
NcclId next_id(Transport& control, std::uint32_t panel, std::uint32_t rank, std::uint32_t ranks,
               double seconds) {
  const NcclId mine = rank == 0 ? make_nccl_id() : NcclId{};
  return rows_of_all(control, panel, rank, ranks, mine, seconds).front();
}

/// A communicator that keeps to the SMs which a product beside it leaves.
std::unique_ptr<Transport> join_within_sms(Transport& control, std::uint32_t rank,
                                           std::uint32_t ranks, double seconds) {
  const NcclId id = next_id(control, kPanelSecondJoin, rank, ranks, seconds);
  return join_nccl(id, rank, ranks, seconds, sms_of(PanelRoute::nccl_overlap));
}

/// Panels of `route` go by `own` from now on; null: there is no such route.
void add(GpuTransport& made, PanelRoute route, std::unique_ptr<Transport> own) {
  if (!own) return;
  made.transport =
      std::make_unique<RoutedTransport>(std::move(made.transport), route, std::move(own));
  made.routes.push_back(route);
}

}  // namespace

GpuTransport make_gpu_transport(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                double seconds, std::optional<PanelRoute> only) {
  if (only == PanelRoute::relay)
    throw Error(fmt::format(
        "panels do not travel by {} between GPUs: take nccl, nccl_overlap, copy_engine or auto",
        name_of(*only)));
  const auto began = std::chrono::steady_clock::now();
  const auto takes = [&](PanelRoute route) { return !only || only == route; };
  GpuTransport made{
      .transport = join_nccl(id, rank, ranks, seconds), .routes = {}, .why = "as asked"};
  // Five exchanges and joins, each of which may take a fifth of what is left.
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - began;
  const double each = std::max(1.0, (seconds - gone.count()) / 5);
  const std::string few = too_few_queues(*made.transport, rank, ranks, each);
  // Not the usual routes with few queues: four GPUs hung there (NOTES.md, "Tried and dropped").
  const bool reads_peers = only ? *only == PanelRoute::copy_engine : few.empty();
  if (!only) made.why = few;
  std::unique_ptr<PeerWords> words;
  if (reads_peers) {
    words = std::make_unique<PeerWords>(rank, ranks);
    const std::string cannot = open_words(*made.transport, *words, rank, ranks, each);
    if (!cannot.empty() && only)
      throw Error(fmt::format("no panels by {}: {}", name_of(*only), cannot));
    if (!only) made.why = cannot;
    if (cannot.empty()) {
      made.routes.push_back(PanelRoute::copy_engine);
      if (!only) made.why = fmt::format("all {} GPUs can read each other's memory", ranks);
    } else {
      words.reset();
    }
  }
  if (takes(PanelRoute::nccl_overlap)) {
    if (!few.empty() && only) throw Error("no panels by nccl_overlap: " + few);
    if (few.empty())
      add(made, PanelRoute::nccl_overlap, join_within_sms(*made.transport, rank, ranks, each));
  }
  if (takes(PanelRoute::nccl)) made.routes.push_back(PanelRoute::nccl);
  // Around all others: it has to free its streams before any communicator is aborted.
  if (words)
    made.transport =
        std::make_unique<PeerTransport>(std::move(made.transport), std::move(words), rank, ranks);
  return made;
}

}  // namespace tidemark
