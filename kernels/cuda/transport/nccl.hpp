// Panels over NCCL: every member sends its shards to every other member, all in one group.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/error.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

// NCCL as found at run time: the program starts, lists and compares where there is none.

/// The functions of libnccl.so.2 that the transports call; since NCCL 2.14.
struct NcclApi {
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclCommFinalize) comm_finalize = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
};

/// Loads `library`. Throws Error where it is absent, lacks a function or is older than 2.14.
NcclApi load_nccl(const char* library = "libnccl.so.2");

/// load_nccl() once for the whole program.
const NcclApi& nccl_api();

/// Throws Error with NCCL's words for every code but success and in-progress. `what` says what was
/// tried.
void nccl_check(const NcclApi& api, ncclResult_t code, const std::string& what,
                Where where = Where::here());

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

/// Gathers by ncclSend and ncclRecv on a stream of its own. The members of a panel are the owners
/// in its shard list; all of them start it, nobody else does, and any two ranks start the panels
/// that both are members of in the same order. Panels that are started before the next ready() go
/// in one group, on all ranks the same ones. Panels with PanelBuffer::arrived go in a group for
/// each of steps_of(), with the words of its shards behind it. The communicator is non-blocking and
/// is moved on by ready(): who stops asking stops gathering. The caller's own kernels have to be
/// done with the panel before start().
class NcclTransport final : public Transport {
 public:
  /// Begins to join the communicator of `ranks` members on the current device; join() ends it.
  /// Groups take `most_sms` SMs at most; 0: what NCCL likes best.
  NcclTransport(const NcclApi& api, const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                std::uint32_t most_sms = 0);
  ~NcclTransport() override;
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;

  /// Waits until all members have joined. Throws Error after `seconds`.
  void join(double seconds);

  void start(const PanelBuffer& panel) override;
  bool ready(std::uint32_t id, std::size_t index) override;
  void abort() noexcept override;

 private:
  enum class Stage : std::uint8_t {
    queued,     // NCCL is busy with an earlier panel
    launching,  // groups are with NCCL, which has not put all of them on the stream yet
    launched,   // all on the stream, `done` recorded behind it
    done,
  };
  struct Gathering {
    PanelBuffer panel;
    std::vector<std::uint32_t> steps;  // steps_of() the panel; without words all in the first
    Stage stage = Stage::done;
    std::optional<Event> done;
  };

  // All of these are called with mutex_ held.
  bool in_progress();  // throws Error when NCCL failed or the transport was aborted
  void advance();
  void launch();  // step_ of all that are launching, in one group
  void write_words();
  bool finished(Gathering& gathering);
  void require_sound(const PanelBuffer& panel) const;
  bool leave();

  const NcclApi& api_;
  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  std::optional<Stream> stream_;
  const std::string who_;  // says what failed
  std::mutex mutex_;       // abort() comes from any thread and frees comm_
  NcclCommunicator comm_;
  bool joined_ = false;
  std::map<std::uint32_t, Gathering> gatherings_;  // by panel id
  std::deque<std::uint32_t> queue_;                // ids, queued or launching, in order of start()
  std::size_t launching_ = 0;                      // of them, from the front
  std::uint32_t step_ = 0, steps_ = 1;             // of those that are launching
};

/// Joins the communicator of `ranks` members on the current CUDA device, bounded by `seconds`.
/// Throws Error as make_gpu_transport().
std::unique_ptr<NcclTransport> join_nccl(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                         double seconds, std::uint32_t most_sms = 0);

// Two transports as one: panels of one route by the second, all others by the first.

/// Panels that have PanelBuffer::arrived and the route `route` go by `own`, all others by `usual`.
class RoutedTransport final : public Transport {
 public:
  RoutedTransport(std::unique_ptr<Transport> usual, PanelRoute route,
                  std::unique_ptr<Transport> own);

  void start(const PanelBuffer& panel) override;
  bool ready(std::uint32_t id, std::size_t index) override;
  void abort() noexcept override;

 private:
  std::unique_ptr<Transport> usual_;
  const PanelRoute route_;
  std::unique_ptr<Transport> own_;
  std::mutex mutex_;
  std::set<std::uint32_t> by_own_;  // ids of panels last started there
};

}  // namespace tidemark
