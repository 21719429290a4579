// Panels by NCCL's copy engines: collectives that take no SM, through memory that all ranks have
// registered together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/transport/nccl_communicator.hpp"
#include "kernels/cuda/transport/zero_cta_pieces.hpp"
#include "kernels/transport.hpp"

namespace tidemark::kernels {

/// Gathers panels that have PanelBuffer::arrived by ncclAllGather, piece by piece (pieces_of()),
/// and writes the word of a shard behind its last one. NCCL can do that by copy engines alone where
/// both sides lie in windows at equal places, and panels do not: each piece goes by a slot there.
/// All ranks start panels together and in the same order, each rank one of its own members. The
/// first panel of new members waits until they have a communicator and slots, before a product
/// beside it can be in flight, and throws Error where that takes too long. ready() moves gathers
/// on: who stops asking stops gathering. Copies that wait for a rank that was lost may still come
/// behind abort(): the panel's memory may not be freed then.
class NcclZeroCtaTransport final : public Transport {
 public:
  /// `all` is of all ranks, with NcclMeans::copy_engines, and may still be in progress.
  NcclZeroCtaTransport(const NcclApi& api, std::unique_ptr<NcclCommunicator> all,
                       std::uint32_t rank, std::uint32_t ranks);
  ~NcclZeroCtaTransport() override;
  NcclZeroCtaTransport(const NcclZeroCtaTransport&) = delete;
  NcclZeroCtaTransport& operator=(const NcclZeroCtaTransport&) = delete;

  /// Copies within the GPU and gathers a few bytes of all ranks while a kernel has every SM.
  /// Whether that was done before it ended: else data moves by SMs here, and a product that waits
  /// for it would never end. All ranks call it. Throws Error where NCCL refuses, or not all come
  /// within `seconds`.
  bool needs_no_sm(double seconds);

  void start(const PanelBuffer& panel) override;
  bool ready(std::uint32_t id, std::size_t index) override;
  void abort() noexcept override;

 private:
  /// The members of a panel.
  struct Group {
    std::vector<std::uint32_t> members;  // ascending
    std::size_t own = 0;                 // this rank's place
    std::unique_ptr<NcclCommunicator> comm;
    std::byte* slots = nullptr;  // one for each member, one behind the other
    ncclWindow_t window = nullptr;
  };
  struct Gathering {
    PanelBuffer panel;
    Group* group = nullptr;  // null: nothing to gather
    std::vector<Piece> pieces;
    std::size_t next = 0;  // of them
    bool sent = false;     // that one is with NCCL
    std::optional<Event> done;
  };

  using Lock = std::unique_lock<std::mutex>;
  using Deadline = std::chrono::steady_clock::time_point;

  // All of these are called with mutex_ held; those with a lock give it up while they wait.
  Group& group_of(const std::vector<std::uint32_t>& members, Lock& lock, Deadline deadline);
  void settle(NcclCommunicator& comm, Lock& lock, Deadline deadline);
  void wait_for_stream(const Group& group, const Stream& stream, Lock& lock, Deadline deadline);
  void pause(Lock& lock, Deadline deadline) const;
  void gather_slots(const Group& group, std::uint64_t bytes);
  static bool is_done(const Gathering& gathering);
  void advance();
  void send(Gathering& gathering);
  void receive(Gathering& gathering);
  bool leave() noexcept;

  const NcclApi& api_;
  const std::uint32_t rank_, ranks_;
  const std::string who_;  // says what failed
  std::mutex mutex_;       // abort() comes from any thread
  std::unique_ptr<NcclCommunicator> all_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::optional<Stream> stream_;
  std::map<std::uint32_t, Gathering> gatherings_;  // by panel id
  std::deque<std::uint32_t> queue_;                // ids that are not all on the stream yet
};

}  // namespace tidemark::kernels
