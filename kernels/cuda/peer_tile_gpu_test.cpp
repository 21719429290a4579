// Copies on memory that is not the workspace's, on one GPU and between two of this process. That
// handles find their way between processes is seen by a launch of the cases peer.* on two GPUs.
#include "kernels/cuda/peer_tile.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/cuda/program/program.hpp"
#include "kernels/cuda/program/program_kernel.hpp"
#include "kernels/testing/scripted_transport.hpp"

namespace tidemark {
namespace {

class PeerTileOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;

/// 64 x 20 bytes, rows 80 apart; a box of 32 x 8 at (16, 5).
PeerTile matrix(PeerWay way) {
  return {.map = {.extent = {64, 20}, .stride = {80}, .box = {32, 8}},
          .at = {16, 5},
          .shared_offset = 128,
          .way = way,
          .seed = 7,
          .rank = 0,
          .ranks = 2};
}

Bytes bytes_at(const std::byte* data, std::size_t count) {
  Bytes bytes(count);
  cuda_check(cudaMemcpy(bytes.data(), data, count, cudaMemcpyDefault), "read memory");
  return bytes;
}

/// Loads from memory that GPU `owner` has and filled; the copy runs on GPU 0.
void expect_a_load_from(int owner) {
  const TileLoad load = peer_load(matrix(PeerWay::load), 1);
  const Program program = peer_program(matrix(PeerWay::load));
  cuda_check(cudaSetDevice(owner), "take the owner's GPU");
  const DeviceBuffer memory(source_allocation_bytes(load));
  launch_fill_region({.memory = reinterpret_cast<std::uint8_t*>(memory.data()),
                      .bytes = source_allocation_bytes(load),
                      .element = load.map.type,
                      .payload = load.payload},
                     nullptr);
  cuda_check(cudaDeviceSynchronize(), "fill the memory");
  cuda_check(cudaSetDevice(0), "take GPU 0");
  RowWorkspace rows;

  const RunResult result = run_peer_program(rows, program, memory.data());

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  Bytes window(window_bytes(load));
  for (std::uint32_t i = 0; i < window.size(); ++i) window[i] = poison_byte(load.payload, i);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t x = 0; x < 32; ++x)
      window[1024 + 128 + 32 * y + x] = source_byte(load.payload, 1024 + 80 * (5 + y) + 16 + x);
  // Behind each of the two copies, at the end, and behind the exact copy of the checks.
  ASSERT_EQ(result.bytes.size(), 4 * window.size());
  for (std::size_t at = 0; at < result.bytes.size(); at += window.size())
    EXPECT_EQ(Bytes(&result.bytes[at], &result.bytes[at] + window.size()), window) << at;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i].verb != Verb::meter) continue;
    EXPECT_EQ(result.trace.at(i), meter_trace(false, true, 0)) << i;
  }
  EXPECT_TRUE(result.surroundings.empty());
}

/// Stores from GPU 0 to memory of GPU `owner`.
void expect_a_store_to(int owner) {
  const TileStore store = peer_store(matrix(PeerWay::store), 0);
  const Program program = peer_program(matrix(PeerWay::store));
  cuda_check(cudaSetDevice(owner), "take the owner's GPU");
  const DeviceBuffer memory(destination_allocation_bytes(store));
  launch_fill_region({.memory = reinterpret_cast<std::uint8_t*>(memory.data()),
                      .bytes = destination_allocation_bytes(store),
                      .element = store.map.type,
                      .poison = true,
                      .payload = store.payload},
                     nullptr);
  cuda_check(cudaDeviceSynchronize(), "fill the memory");
  cuda_check(cudaSetDevice(0), "take GPU 0");
  RowWorkspace rows;

  const RunResult result = run_peer_program(rows, program, memory.data());

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  Bytes expected(destination_allocation_bytes(store));
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = poison_byte(store.payload, i);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t x = 0; x < 32; ++x)
      expected[1024 + 80 * (5 + y) + 16 + x] = source_byte(store.payload, 1024 + 128 + 32 * y + x);
  EXPECT_EQ(bytes_at(memory.data(), expected.size()), expected);
  Bytes window(window_bytes(store));
  for (std::size_t i = 0; i < window.size(); ++i) window[i] = source_byte(store.payload, i);
  EXPECT_EQ(result.bytes, window);
  const auto wait = std::ranges::find(program.steps, Verb::wait_group, &Step::verb);
  ASSERT_NE(wait, program.steps.end());
  EXPECT_EQ(result.trace.at(static_cast<std::size_t>(wait - program.steps.begin())),
            source_word(store.payload, (1024 + 128) / 8));
  EXPECT_TRUE(result.surroundings.empty());
}

/// Lets GPU 0 reach the memory of GPU 1; says why it cannot.
std::string reach_second_gpu() {
  if (visible_gpus().size() < 2) return "CUDA shows this process fewer than two GPUs";
  int can = 0;
  cuda_check(cudaDeviceCanAccessPeer(&can, 0, 1), "ask for peer access");
  if (can == 0) return "GPU 0 has no access to GPU 1";
  cuda_check(cudaSetDevice(0), "take GPU 0");
  const cudaError_t code = cudaDeviceEnablePeerAccess(1, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled)
    (void)cudaGetLastError();
  else
    cuda_check(code, "enable peer access");
  return {};
}

TEST_F(PeerTileOnGpu, LoadsFromMemoryThatTheCallerFilled) { expect_a_load_from(0); }

TEST_F(PeerTileOnGpu, StoresToMemoryThatTheCallerReads) { expect_a_store_to(0); }

TEST_F(PeerTileOnGpu, LoadsFromTheSecondGpu) {
  if (const std::string why = reach_second_gpu(); !why.empty()) GTEST_SKIP() << why;
  expect_a_load_from(1);
}

TEST_F(PeerTileOnGpu, StoresToTheSecondGpu) {
  if (const std::string why = reach_second_gpu(); !why.empty()) GTEST_SKIP() << why;
  expect_a_store_to(1);
}

TEST_F(PeerTileOnGpu, OneRankHasNoNeighbour) {
  PeerTile op = matrix(PeerWay::load);
  op.ranks = 1;
  RowWorkspace rows;
  PeerWorkspace peers;

  const RunResult result = run_peer_tile(rows, peers, op);

  EXPECT_EQ(result.fault, DeviceFault::unsupported);
  EXPECT_EQ(result.note, "one GPU alone has no neighbour: start two ranks or more");
}

TEST_F(PeerTileOnGpu, ANeighbourThatDoesNotComeIsATimeoutWithOneLine) {
  ScriptedTransport transport;
  transport.withheld_panel = 3;
  transport.withheld_shard = 1;
  PeerTile op = matrix(PeerWay::load);
  op.transport = &transport;
  op.deadline_s = 0.05;
  RowWorkspace rows;
  PeerWorkspace peers;

  const RunResult result = run_peer_tile(rows, peers, op);

  EXPECT_EQ(result.fault, DeviceFault::others_late);
  EXPECT_EQ(
      result.note,
      "waits for GPU 1: the neighbours' handles, shard 1 (rows 1 to 2) not ready within 0.05 s");
  EXPECT_EQ(transport.aborts, 1);
}

}  // namespace
}  // namespace tidemark
