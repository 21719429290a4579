// A communicator of NCCL that nobody waits for without a bound.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/cuda/transport/nccl_api.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// Owns a communicator, always a non-blocking one: a blocking call waits for a dead peer without a
/// bound. Not for several threads at once.
class NcclCommunicator {
 public:
  /// Begins to join the communicator of `ranks` members on the current device, which takes at most
  /// `most_sms` of it; 0: what NCCL likes best. Throws Error where NCCL refuses.
  NcclCommunicator(const NcclApi& api, const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                   std::uint32_t most_sms = 0);
  /// Aborts, unless leave() was called.
  ~NcclCommunicator() { abort(); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  /// Whether NCCL has not yet done what it was last asked for. Throws Error, which begins with
  /// `what`, when that failed.
  bool in_progress(const std::string& what);
  /// Null behind leave() and abort().
  ncclComm_t get() const { return comm_; }
  /// Takes it away, for give_up(): the owner's lock need not be held while NCCL frees.
  ncclComm_t release();
  void abort() noexcept;
  /// Leaves in order, within seconds. False where that failed. Nothing may be in flight.
  bool leave();

  /// Aborts each of `comms` (null: nothing to do) on a thread of its own, which stays behind where
  /// NCCL does not come back: it frees memory of the GPU, which waits for all kernels there. One of
  /// another communicator may wait for the same lost peer, and is aborted only behind this; the
  /// rank to be named would never be.
  static void give_up(const NcclApi& api, std::span<const ncclComm_t> comms) noexcept;

 private:
  const NcclApi& api_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace tidemark
