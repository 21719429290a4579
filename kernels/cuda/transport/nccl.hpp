// Panels over NCCL: every member sends its shards to every other member, all in one group.
#pragma once

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
#include "kernels/transport.hpp"

namespace tidemark {

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

}  // namespace tidemark
