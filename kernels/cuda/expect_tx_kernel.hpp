// What host and kernel of a mismatched announcement tell each other, and the launch.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/ops/expect_tx.hpp"

namespace tidemark::kernels {

/// What the kernel saw of one barrier; the lines of TransactionLedger.
struct BarrierAccount {
  std::uint32_t complete_before = 0;
  std::uint32_t complete = 0;
  std::uint32_t settled = 0;
  std::uint32_t next_complete_early = 0;
  std::uint32_t next_complete = 0;
  std::int32_t residue = 0;
};

inline constexpr std::uint32_t kMostBarriers = 4;

/// Everything the kernel saw. Each block writes the accounts of its own two barriers, block 0 the
/// rest.
struct ExpectTxLedger {
  std::uint32_t launch = 0;  // ExpectTxLaunch::launch, written last: all blocks came to their end
  std::uint32_t waited = 0;
  std::uint32_t pieces_missing = 0;
  std::uint64_t waited_ns = 0;
  BarrierAccount accounts[kMostBarriers]{};
};

/// What one launch works on. The pointers are device memory.
struct ExpectTxLaunch {
  std::uint32_t launch = 0;  // a number that no earlier launch had
  ExpectTx op;
  ExpectTxLedger* ledger = nullptr;
  std::uint8_t* windows = nullptr;  // one a block, window_pitch() apart; 16-byte aligned
};

/// Bytes from one block's window in the answer to the next.
constexpr std::uint32_t window_pitch(const ExpectTx& op) {
  return (window_bytes(op.load) + 15) / 16 * 16;
}

/// The largest window that fits the shared memory of a block on the current device. Prepares the
/// kernel for it: to be called once before the first launch.
std::uint32_t prepare_expect_tx();

/// Steps 1 (windows and barriers) to 7 of kernels/ops/expect_tx.hpp, as one cluster.
void launch_expect_tx(const CUtensorMap& map, const ExpectTxLaunch& row, cudaStream_t stream);

}  // namespace tidemark::kernels
