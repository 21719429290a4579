// Words of device memory that streams write and wait for, without an SM.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tidemark {

/// Looks the functions of the driver up. Throws Error where it has none.
void require_stream_words();

/// Written when all before it on the stream, and what events there wait for, is done and visible to
/// the whole system: who sees the word may read the bytes.
void write_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value);

/// Until the word is `value` or beyond it, as counters go round.
void wait_for_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value);

/// Queues by which streams of the current GPU reach it, of which one is the product's: CUDA C++
/// Programming Guide, CUDA_DEVICE_MAX_CONNECTIONS. Counted as 1 under MPS, which need not give as
/// many as are asked for.
std::uint32_t stream_queues();

/// The same without a look at MPS. 1 where a launch may return only when its kernel has ended:
/// CUDA_LAUNCH_BLOCKING, and profilers, which come by CUDA_INJECTION64_PATH.
std::uint32_t queues_by_environment();

/// With fewer, what a product waits for may stand behind it, whatever the priority of its stream:
/// groups of NCCL, and words behind events. With 1 it does; 2 to 7 were not tried.
inline constexpr std::uint32_t kEnoughQueues = 8;
/// What a worker asks for: a dozen streams of transports and NCCL have one each. With fewer, a
/// stream that is held until ranks have met may stand before one that they meet by.
inline constexpr std::uint32_t kQueuesToHold = 32;

}  // namespace tidemark
