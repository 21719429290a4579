// A product beside the exchange of its panels, on one GPU: a transport that copies from memory of
// the same GPU plays the other ranks, late, in any order, or not at all.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gemm/resident_gemm.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/transport.hpp"

namespace tidemark {
namespace {

/// Has both panels whole, in memory of the host, and copies shards of other ranks from them in an
/// order drawn from a seed, with a pause before each. From memory of the same GPU a kernel would
/// copy, and a product that has all SMs leaves it none.
class LoopbackTransport final : public Transport {
 public:
  /// `whole` is the product without a transport.
  LoopbackTransport(const Gemm& whole, std::uint64_t seed, double pause_us)
      : random_(seed), pause_(pause_us) {
    const std::unique_ptr<ResidentGemm> resident = make_resident(whole);
    EXPECT_TRUE(wait_for_stream(resident->stream.get(), 20));
    keep(resident->a, panels_[0]);
    keep(resident->b, panels_[1]);
  }

  void start(const PanelBuffer& panel) override {
    started.push_back(panel);
    if (panel.id == 2) ++barriers_;
    if (panel.id > 1) return;
    epochs_[panel.id] = panel.epoch;
    const PinnedBuffer& from = panels_[panel.id];
    std::vector<std::size_t> order = fetch_order(panel.shards, 0);
    if (shuffles) std::shuffle(order.begin(), order.end(), random_);
    const cudaStream_t stream = streams_[panel.id].get();
    if (panel.begin != nullptr) wait_for_word(stream, panel.begin, panel.begin_value);
    for (const std::size_t index : order) {
      if (panel.epoch >= withheld_from && index == withheld_shard) continue;
      const Shard& shard = panel.shards[index];
      const std::uint64_t offset = shard.first_row * panel.row_bytes;
      if (lies) write_word(stream, panel.arrived + index, panel.epoch);
      pause(stream);
      cuda_check(cudaMemcpyAsync(panel.base + offset, from.data() + offset,
                                 shard.rows * panel.row_bytes, cudaMemcpyHostToDevice, stream),
                 "copy a shard");
      write_word(stream, panel.arrived + index, panel.epoch);
    }
    cuda_check(cudaEventRecord(done_[panel.id].get(), stream), "mark the end of a panel");
  }

  bool ready(std::uint32_t id, std::size_t index) override {
    if (id == 2) return barriers_ < withheld_barrier;
    if (id > 1) return true;
    if (epochs_[id] >= withheld_from && index == withheld_shard) return false;
    return cudaEventQuery(done_[id].get()) == cudaSuccess;
  }

  /// Frees memory and so waits for all streams, as NCCL does.
  void abort() noexcept override {
    ++aborts;
    static_cast<void>(cudaDeviceSynchronize());
  }

  bool shuffles = false;
  bool lies = false;                         // sets words before the bytes are there
  std::uint32_t withheld_from = 0xffffffff;  // epoch
  std::size_t withheld_shard = 0;
  int withheld_barrier = 1000;  // and all behind it, counted from 1
  std::vector<PanelBuffer> started;
  int aborts = 0;

 private:
  static void keep(const DeviceBuffer& panel, PinnedBuffer& copy) {
    grow(copy, panel.size());
    cuda_check(cudaMemcpy(copy.data(), panel.data(), panel.size(), cudaMemcpyDeviceToHost),
               "keep a panel");
  }

  /// A copy that nobody reads, of about 40 GB/s.
  void pause(cudaStream_t stream) {
    const auto bytes = static_cast<std::size_t>(pause_ * 40e3);
    if (bytes == 0) return;
    grow(scratch_, bytes);
    grow(nothing_, bytes);
    cuda_check(
        cudaMemcpyAsync(scratch_.data(), nothing_.data(), bytes, cudaMemcpyHostToDevice, stream),
        "spend time");
  }

  std::mt19937_64 random_;
  double pause_;
  int barriers_ = 0;
  std::uint32_t epochs_[2] = {};
  Stream streams_[2];
  Event done_[2];
  PinnedBuffer panels_[2];
  DeviceBuffer scratch_;
  PinnedBuffer nothing_;
};

std::vector<Shard> shards_of(std::uint64_t rows, std::uint32_t parts) {
  std::vector<Shard> shards;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const std::uint64_t begin = rows * i / parts;
    // The second and the fifth of six parts are this rank's.
    shards.push_back({i % 3 == 1 ? 0U : 1U, begin, rows * (i + 1) / parts - begin});
  }
  return shards;
}

Gemm whole_of(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  Gemm gemm = whole_product({m, n, k}, GemmInputs::normal);
  gemm.output = GemmOutput::bf16;
  gemm.seed = 11;
  gemm.everybody = {{0, 0, 1}};  // one sum an element, with or without a transport
  return gemm;
}

Gemm gathered(const Gemm& whole, Transport& transport, std::uint32_t parts) {
  Gemm gemm = whole;
  gemm.transport = &transport;
  gemm.route = PanelRoute::copy_engine;
  gemm.a_shards = shards_of(gemm.m, parts);
  gemm.b_shards = shards_of(gemm.n, parts);
  return gemm;
}

class Arrivals : public GpuTest {};

TEST_F(Arrivals, ChangeNoBitWhateverTheirOrder) {
  for (const GemmShape& shape :
       {GemmShape{256, 256, 64}, GemmShape{1, 1, 1}, GemmShape{1000, 777, 520},
        GemmShape{2048, 4096, 1024}, GemmShape{4096, 8192, 8192}}) {
    const Gemm whole = whole_of(shape.m, shape.n, shape.k);
    const RunResult alone = run_gemm(whole);
    for (const std::uint32_t parts : {1U, 6U, 40U}) {
      LoopbackTransport transport(whole, shape.m + parts, 3);
      transport.shuffles = true;
      const RunResult beside = run_gemm(gathered(whole, transport, parts));
      ASSERT_EQ(beside.fault, DeviceFault::none) << beside.note;
      EXPECT_EQ(beside.bytes == alone.bytes, true) << shape.m << ", " << parts << " parts";
      EXPECT_EQ(transport.aborts, 0);
    }
  }
}

TEST_F(Arrivals, EveryConfigurationWaitsForItsRows) {
  const Gemm whole = whole_of(1500, 1300, 900);
  const RunResult alone = run_gemm(whole);
  for (std::uint32_t number = 1; number <= engine_configurations().size(); ++number) {
    LoopbackTransport transport(whole, number, 20);
    transport.shuffles = true;
    Gemm gemm = gathered(whole, transport, 6);
    gemm.configuration = number;
    if (engine_configurations()[number - 1].stream_k) {
      EXPECT_THROW(run_gemm(gemm), Error);  // other sums
      continue;
    }
    const RunResult beside = run_gemm(gemm);
    ASSERT_EQ(beside.fault, DeviceFault::none) << beside.note;
    EXPECT_EQ(beside.bytes == alone.bytes, true) << beside.note;
  }
}

TEST_F(Arrivals, SmsThatMovePanelsAreLeftToThem) {
  const Gemm whole = whole_of(4096, 8192, 1024);
  const RunResult alone = run_gemm(whole);
  LoopbackTransport transport(whole, 5, 3);
  Gemm gemm = gathered(whole, transport, 6);
  gemm.route = PanelRoute::nccl_overlap;
  int sms = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  const std::unique_ptr<ResidentGemm> block = make_resident(gemm);
  ASSERT_TRUE(wait_for_stream(block->stream.get(), 20));
  EXPECT_LE(block->beside.blocks + sms_of(gemm.route), static_cast<std::uint32_t>(sms));
  const RunResult beside = run_gemm(gemm);
  ASSERT_EQ(beside.fault, DeviceFault::none) << beside.note;
  EXPECT_EQ(beside.bytes == alone.bytes, true);
}

TEST_F(Arrivals, WordBeforeItsBytesIsSeen) {
  const Gemm whole = whole_of(1024, 1024, 512);
  LoopbackTransport transport(whole, 1, 500);
  transport.lies = true;
  const RunResult alone = run_gemm(whole);
  const RunResult beside = run_gemm(gathered(whole, transport, 6));
  ASSERT_EQ(beside.fault, DeviceFault::none) << beside.note;
  EXPECT_EQ(beside.bytes == alone.bytes, false);
}

TEST_F(Arrivals, WordOfAnEarlierGatherIsNoSign) {
  const Gemm whole = whole_of(1024, 1024, 512);
  LoopbackTransport transport(whole, 1, 500);
  const RunResult alone = run_gemm(whole);
  const RunResult beside = run_gemm(gathered(whole, transport, 6));
  ASSERT_EQ(beside.fault, DeviceFault::none) << beside.note;
  EXPECT_EQ(beside.bytes == alone.bytes, true);
  std::vector<std::uint32_t> epochs;
  for (const PanelBuffer& panel : transport.started)
    if (panel.id == 0) epochs.push_back(panel.epoch);
  EXPECT_EQ(epochs, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(Arrivals, ShardThatNeverComesIsNamedAndTheKernelEnds) {
  const Gemm whole = whole_of(1024, 1024, 512);
  LoopbackTransport transport(whole, 1, 0);
  transport.withheld_from = 2;
  transport.withheld_shard = 3;
  Gemm gemm = gathered(whole, transport, 6);
  gemm.deadline_s = 0.3;
  const RunResult beside = run_gemm(gemm);
  EXPECT_EQ(beside.fault, DeviceFault::others_late);
  EXPECT_EQ(beside.note,
            "waits for GPU 1: panel A, shard 3 (rows 512 to 682) not ready within 0.3 s");
  EXPECT_EQ(transport.aborts, 1);
  EXPECT_EQ(run_gemm(whole).fault, DeviceFault::none);  // the GPU is as it was
}

TEST_F(Arrivals, TimedProductsWaitForEachEpoch) {
  const Gemm whole = whole_of(2048, 2048, 2048);
  LoopbackTransport transport(whole, 1, 20);
  const Gemm gemm = gathered(whole, transport, 6);
  const Measurement measured = measure_gemm(gemm, {.warmups = 2, .samples = 6});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  ASSERT_EQ(measured.samples.size(), 6U);
  for (const TimedSample& sample : measured.samples) {
    EXPECT_GT(sample.total_ns, 0);
    EXPECT_GT(sample.local_ns, 0);
    EXPECT_EQ(sample.slowest_total_ns, sample.total_ns);
    EXPECT_EQ(sample.slowest_local_ns, sample.local_ns);
  }
  EXPECT_EQ(measured.last.bytes == run_gemm(whole).bytes, true);
}

TEST_F(Arrivals, TimedProductsAndTheirPanelsAreQueuedBeforeTheBarrier) {
  const Gemm whole = whole_of(1024, 1024, 512);
  LoopbackTransport transport(whole, 1, 0);
  const Measurement measured =
      measure_gemm(gathered(whole, transport, 6), {.warmups = 1, .samples = 1});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  for (const PanelBuffer& panel : transport.started)
    EXPECT_EQ(panel.begin != nullptr, panel.id < 2 && panel.epoch > 1)
        << panel.id << ", epoch " << panel.epoch;
}

// The first barrier is before anything is queued. A product alone, then one with its panels, which
// are given up, too.
TEST_F(Arrivals, BarrierThatNeverComesEndsWhatWasQueuedBefore) {
  const Gemm whole = whole_of(1024, 1024, 512);
  for (const int barrier : {2, 3}) {
    LoopbackTransport transport(whole, 1, 0);
    transport.withheld_barrier = barrier;
    Gemm gemm = gathered(whole, transport, 6);
    gemm.deadline_s = 0.3;
    const Measurement measured = measure_gemm(gemm, {.warmups = 1, .samples = 2});
    EXPECT_EQ(measured.fault, DeviceFault::others_late);
    EXPECT_EQ(transport.started.back().id, 2U);
    EXPECT_EQ(transport.aborts, barrier - 1);
    EXPECT_EQ(run_gemm(whole).fault, DeviceFault::none);  // the GPU is as it was
  }
}

TEST_F(Arrivals, ShardThatNeverComesToATimedProductIsNamed) {
  const Gemm whole = whole_of(1024, 1024, 512);
  LoopbackTransport transport(whole, 1, 0);
  transport.withheld_from = 2;
  transport.withheld_shard = 3;
  Gemm gemm = gathered(whole, transport, 6);
  gemm.deadline_s = 0.3;
  const Measurement measured = measure_gemm(gemm, {.warmups = 1, .samples = 2});
  EXPECT_EQ(measured.fault, DeviceFault::others_late);
  EXPECT_NE(measured.note.find("panel A, shard 3 (rows 512 to 682)"), std::string::npos)
      << measured.note;
  EXPECT_EQ(run_gemm(whole).fault, DeviceFault::none);
}

// Words and bytes of many small shards, again and again: one stale byte changes the product.
TEST_F(Arrivals, ManyShardsLeaveNoStaleByte) {
  const Gemm whole = whole_of(2048, 2048, 64);
  const RunResult alone = run_gemm(whole);
  LoopbackTransport transport(whole, 1, 0);
  Gemm gemm = gathered(whole, transport, 512);
  for (int round = 0; round < 40; ++round) {
    transport.shuffles = round % 2 != 0;
    const RunResult beside = run_gemm(gemm);
    ASSERT_EQ(beside.fault, DeviceFault::none) << beside.note;
    ASSERT_EQ(beside.bytes == alone.bytes, true) << "round " << round;
  }
}

}  // namespace
}  // namespace tidemark
