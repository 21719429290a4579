// How long a distributed product takes on GPUs that are not there: arithmetic, without a device.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops/gemm/gemm.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark {

/// What one GPU reaches. All rates are above 0 and may be infinite.
struct PredictedMachine {
  double product = 0;  // flop/s, everything in place
  double link = 0;     // bytes/s received from GPUs of the node
  double network = 0;  // bytes/s received from other nodes; not read where there is one node
  double fixed_s = 0;  // of a product on more than one GPU: barrier, launch, first copy
  std::uint32_t gpus_per_node = 1;  // rank r is on node r / gpus_per_node
};

enum class Bottleneck : std::uint8_t { product, link, network, fixed_cost };

constexpr std::string_view name_of(Bottleneck bottleneck) {
  constexpr std::string_view kNames[] = {"product", "link", "network", "fixed cost"};
  return kNames[static_cast<std::size_t>(bottleneck)];
}

/// Of the rank that is done last.
struct PredictedTime {
  std::uint32_t ranks = 0, nodes = 0;
  Grid grid;
  double seconds = 0;
  double product_s = 0;  // multiplying, everything in place: the local time
  double link_s = 0;     // its link is busy
  double network_s = 0;  // its share of its node's network is busy
  double fixed_s = 0;
  double wait_s = 0;                            // no tile is ready: seconds - product_s - fixed_s
  double efficiency = 0;                        // local time of the slowest rank / seconds
  double flops = 0;                             // 2 m n k / seconds
  Bottleneck bottleneck = Bottleneck::product;  // the longest of the four times
};

/// Predicts C = A B in bf16, shared out by distributed_gemm(). It assumes:
/// - Chunks travel in fetch_order(). Both panels share the link equally,
///   though copy engines fetch B behind A.
/// - A byte from another node crosses the network once for all GPUs of this node, which share such
///   bytes evenly. It then crosses the link, but for the part that this GPU received itself.
/// - Chunks are stored and forwarded: the link takes one once the network has all of it.
/// - Tiles of 256 x 256 are multiplied in the order in which their rows of A and B are there, each
///   at the full rate of the GPU. So neither waves of tiles nor the tail of a late one are seen.
/// - Copies do not slow the product down, and all GPUs are equal.
/// Throws Error when `ranks` is 0.
PredictedTime predict_time(const GemmShape& shape, std::uint32_t ranks,
                           const PredictedMachine& machine);

/// A chunk on its way over a link or a network.
struct PanelTransfer {
  double ready_s = 0;  // it can start
  double cost_s = 0;   // it takes, where nothing else travels
  double done_s = 0;
};

/// Sets `done_s` of two queues, each sorted by `ready_s` and served in order: at half the rate
/// while the other one has a transfer that is ready, else at the whole rate.
void share_line(std::span<PanelTransfer> left, std::span<PanelTransfer> right);

/// Rows of a panel that are there from `ready_s` on.
struct ReadyRows {
  double ready_s = 0;
  std::uint64_t rows = 0;
};

/// When the last product of a row of A with a row of B is done: each takes `pair_s`, and they are
/// taken in the order in which both rows are there. 0 where there is none.
double multiplied_s(std::vector<ReadyRows> a, std::vector<ReadyRows> b, double pair_s);

}  // namespace tidemark
