// How fast a few SMs copy between GPUs by bulk copies of TMA, all GPUs at once, each from (pull) or
// to (push) the next one:
//     nvcc -std=c++20 -O2 -arch=sm_90a -o pull_rate ci/peers/pull_rate.cu && ./pull_rate >rates.csv
// One thread of each CTA keeps 200 KiB in flight through shared memory. Best of four series of four
// copies of 64 MiB, slowest GPU. Needs two or more Hopper GPUs that reach each other's memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/ptx>
#include <vector>

namespace ptx = cuda::ptx;

constexpr std::uint32_t kRingBytes = 200 << 10;
constexpr std::uint32_t kMostStages = 32;
constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;

static void check(cudaError_t code, int line) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "pull_rate: line %d: %s\n", line, cudaGetErrorString(code));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

__global__ void copy(std::byte* to, const std::byte* from, std::uint32_t piece,
                     std::uint32_t stages) {
  extern __shared__ __align__(128) std::byte ring[];
  __shared__ std::uint64_t full[kMostStages];
  if (threadIdx.x != 0) return;
  for (std::uint32_t s = 0; s < stages; ++s) ptx::mbarrier_init(&full[s], 1);
  // Without it the copies' credits may find barriers that do not exist yet.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  const std::uint64_t pieces = kBytes / piece;
  std::uint64_t load = blockIdx.x;
  std::uint32_t load_stage = 0, store_stage = 0, parity = 0;
  const auto load_next = [&] {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &full[load_stage], piece);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring + load_stage * piece,
                       from + load * piece, piece, &full[load_stage]);
    load += gridDim.x;
    load_stage = load_stage + 1 == stages ? 0 : load_stage + 1;
  };
  for (std::uint32_t s = 0; s + 2 < stages && load < pieces; ++s) load_next();
  for (std::uint64_t store = blockIdx.x; store < pieces; store += gridDim.x) {
    for (std::uint32_t tries = 0; !ptx::mbarrier_try_wait_parity(&full[store_stage], parity);
         ++tries)
      if (tries > 1'000'000) __trap();  // a copy that never lands
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to + store * piece,
                       ring + store_stage * piece, piece);
    ptx::cp_async_bulk_commit_group();
    if (++store_stage == stages) {
      store_stage = 0;
      parity ^= 1;
    }
    // All but this store have read their stage: without it the next load could overwrite one.
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
    if (load < pieces) load_next();
  }
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});  // the ring must outlive what TMA reads of it
}

struct Gpu {
  std::byte *source = nullptr, *target = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t began = nullptr, ended = nullptr;
};

static float slowest_ms(const std::vector<Gpu>& gpus, bool push, std::uint32_t sms,
                        std::uint32_t piece) {
  constexpr int kCopies = 4;
  const std::uint32_t stages = std::min(kRingBytes / piece, kMostStages);
  const int count = static_cast<int>(gpus.size());
  for (int i = 0; i < count; ++i) {
    const Gpu& own = gpus[i];
    const Gpu& peer = gpus[(i + 1) % count];
    CHECK(cudaSetDevice(i));
    CHECK(cudaEventRecord(own.began, own.stream));
    for (int n = 0; n < kCopies; ++n)
      copy<<<sms, 32, stages * piece, own.stream>>>(push ? peer.target : own.target,
                                                    push ? own.source : peer.source, piece, stages);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(own.ended, own.stream));
  }
  float slowest = 0;
  for (int i = 0; i < count; ++i) {
    float ms = 0;
    CHECK(cudaSetDevice(i));
    CHECK(cudaEventSynchronize(gpus[i].ended));
    CHECK(cudaEventElapsedTime(&ms, gpus[i].began, gpus[i].ended));
    slowest = std::max(slowest, ms / kCopies);
  }
  return slowest;
}

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  if (count < 2) {
    std::fprintf(stderr, "pull_rate: needs two GPUs or more, this machine has %d\n", count);
    return 5;
  }
  std::vector<Gpu> gpus(count);
  for (int i = 0; i < count; ++i) {
    CHECK(cudaSetDevice(i));
    for (int peer = 0; peer < count; ++peer)
      if (peer != i) CHECK(cudaDeviceEnablePeerAccess(peer, 0));
    CHECK(cudaMalloc(&gpus[i].source, kBytes));
    CHECK(cudaMalloc(&gpus[i].target, kBytes));
    CHECK(cudaMemset(gpus[i].source, i + 1, kBytes));
    CHECK(cudaStreamCreate(&gpus[i].stream));
    CHECK(cudaEventCreate(&gpus[i].began));
    CHECK(cudaEventCreate(&gpus[i].ended));
    CHECK(cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kRingBytes));
    CHECK(cudaDeviceSynchronize());
  }
  std::puts("direction,sms,piece_kib,slowest_us,gb_s");
  for (const bool push : {false, true})
    for (const std::uint32_t piece : {4096u, 8192u, 16384u, 32768u})
      for (const std::uint32_t sms : {2u, 4u, 6u, 8u, 12u, 16u, 24u, 32u}) {
        float best = 1e9;
        for (int series = 0; series < 4; ++series)
          best = std::min(best, slowest_ms(gpus, push, sms, piece));
        std::printf("%s,%u,%u,%.1f,%.1f\n", push ? "push" : "pull", sms, piece / 1024, best * 1e3,
                    kBytes / best / 1e6);
      }
}
