// A non-blocking communicator takes one group at a time, so panels wait in a queue; each call of
// ready() moves the queue on and none of them waits.
#include "kernels/cuda/transport/nccl.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/transport/exchange.hpp"
#include "kernels/cuda/transport/stream_words.hpp"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::microseconds(200);

}  // namespace

NcclTransport::NcclTransport(const NcclApi& api, const NcclId& id, std::uint32_t rank,
                             std::uint32_t ranks, std::uint32_t most_sms)
    : api_(api),
      rank_(rank),
      ranks_(ranks),
      who_(fmt::format("rank {}: communicate", rank)),
      comm_(api, id, rank, ranks, most_sms) {}

NcclTransport::~NcclTransport() {
  // Leaving in order waits for what is in flight; with a panel unfinished that may be for ever.
  if (!leave()) abort();
}

void NcclTransport::join(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (!in_progress()) {
        joined_ = true;
        return;
      }
    }
    if (Clock::now() > deadline)
      throw Error(
          fmt::format("rank {}: not all {} ranks joined the NCCL communicator within {} s: "
                      "look for a rank that died or hangs",
                      rank_, ranks_, seconds));
    std::this_thread::sleep_for(kPollInterval);
  }
}

bool NcclTransport::in_progress() { return comm_.in_progress(who_); }

void NcclTransport::require_sound(const PanelBuffer& panel) const {
  require_members(panel, rank_, ranks_);
  if (panel.base == nullptr && !transfers_of(panel, rank_).empty())
    throw Error(fmt::format("panel {} has no memory", panel.id));
}

void NcclTransport::start(const PanelBuffer& panel) {
  const std::lock_guard lock(mutex_);
  (void)in_progress();
  require_sound(panel);
  Gathering& gathering = gatherings_[panel.id];
  if (!finished(gathering))
    throw Error(
        fmt::format("panel {} is started again while it is still being gathered: wait for "
                    "all its shards",
                    panel.id));
  gathering.panel = panel;
  gathering.steps = steps_of(panel);
  if (panel.arrived == nullptr) std::fill(gathering.steps.begin(), gathering.steps.end(), 0U);
  if (transfers_of(panel, rank_).empty()) return;
  // Not launched here: panels that are started one after the other are to go in one group.
  gathering.stage = Stage::queued;
  queue_.push_back(panel.id);
}

bool NcclTransport::ready(std::uint32_t id, std::size_t index) {
  const std::lock_guard lock(mutex_);
  advance();
  const auto found = gatherings_.find(id);
  if (found == gatherings_.end()) throw Error(fmt::format("panel {} was never started", id));
  Gathering& gathering = found->second;
  if (index >= gathering.panel.shards.size())
    throw Error(fmt::format("panel {} has {} shards, not {}", id, gathering.panel.shards.size(),
                            index + 1));
  return gathering.panel.shards[index].rows == 0 || finished(gathering);
}

void NcclTransport::abort() noexcept {
  ncclComm_t comm = nullptr;
  {
    const std::lock_guard lock(mutex_);
    comm = comm_.release();
  }
  // Outside the lock: freeing takes a while, and start() and ready() can say so meanwhile.
  NcclCommunicator::give_up(api_, {&comm, 1});
}

void NcclTransport::advance() {
  while (!in_progress() && !queue_.empty()) {
    if (launching_ == 0) {
      launching_ = queue_.size();
      step_ = 0;
      steps_ = 1;
      for (const std::uint32_t id : queue_)
        for (const std::uint32_t step : gatherings_.at(id).steps)
          steps_ = std::max(steps_, step + 1);
      launch();
      continue;
    }
    // Only now: until the group is out of progress, some of it may not be on the stream, and words
    // and event would come before the data.
    write_words();
    if (++step_ < steps_) {
      launch();
      continue;
    }
    for (; launching_ > 0; --launching_) {
      Gathering& next = gatherings_.at(queue_.front());
      if (!next.done) next.done.emplace();
      cuda_check(cudaEventRecord(next.done->get(), stream_->get()), "mark the end of a panel");
      next.stage = Stage::launched;
      queue_.pop_front();
    }
  }
}

void NcclTransport::launch() {
  // With the first panel that moves anything: joining and leaving need no stream. Of high priority:
  // it shares no queue with a product's, behind which a group would wait for the product that
  // waits for it.
  if (!stream_) stream_.emplace(Stream::Priority::high);
  const cudaStream_t stream = stream_->get();
  const std::string what = fmt::format("rank {}: gather panels", rank_);
  nccl_check(api_, api_.group_start(), what);
  ncclResult_t failed = ncclSuccess;
  const auto keep = [&](ncclResult_t code) {
    if (failed == ncclSuccess && code != ncclInProgress) failed = code;
  };
  for (std::size_t i = 0; i < launching_; ++i) {
    Gathering& gathering = gatherings_.at(queue_[i]);
    gathering.stage = Stage::launching;
    for (const Transfer& part : transfers_of(gathering.panel, rank_)) {
      if (gathering.steps[part.shard] != step_) continue;
      std::byte* const at = gathering.panel.base + part.offset;
      const int peer = static_cast<int>(part.peer);
      keep(part.send ? api_.send(at, part.bytes, ncclUint8, peer, comm_.get(), stream)
                     : api_.recv(at, part.bytes, ncclUint8, peer, comm_.get(), stream));
    }
  }
  // Also after a failure: a group left open would swallow all later calls of this thread.
  keep(api_.group_end());
  nccl_check(api_, failed, what);
}

/// Behind the group of step_: its kernel has ended then, and what it has written is visible.
void NcclTransport::write_words() {
  for (std::size_t i = 0; i < launching_; ++i) {
    const Gathering& gathering = gatherings_.at(queue_[i]);
    if (gathering.panel.arrived == nullptr) continue;
    for (const Transfer& part : transfers_of(gathering.panel, rank_))
      if (!part.send && gathering.steps[part.shard] == step_)
        write_word(stream_->get(), gathering.panel.arrived + part.shard, gathering.panel.epoch);
  }
}

bool NcclTransport::finished(Gathering& gathering) {
  if (gathering.stage == Stage::launched) {
    const cudaError_t state = cudaEventQuery(gathering.done->get());
    if (state == cudaErrorNotReady) return false;
    cuda_check(state, "gather a panel");
    gathering.stage = Stage::done;
  }
  return gathering.stage == Stage::done;
}

bool NcclTransport::leave() {
  const std::lock_guard lock(mutex_);
  if (comm_.get() == nullptr) return true;
  // Stage launched has an event; queued and launching are in the queue.
  const auto unfinished = [](const auto& entry) {
    return entry.second.stage == Stage::launched &&
           cudaEventQuery(entry.second.done->get()) != cudaSuccess;
  };
  return joined_ && queue_.empty() &&
         std::none_of(gatherings_.begin(), gatherings_.end(), unfinished) && comm_.leave();
}

NcclId make_nccl_id() {
  const NcclApi& api = nccl_api();
  ncclUniqueId unique{};
  nccl_check(api, api.get_unique_id(&unique), "make an NCCL id");
  NcclId id{};
  std::memcpy(id.data(), &unique, id.size());
  return id;
}

std::unique_ptr<NcclTransport> join_nccl(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                         double seconds, std::uint32_t most_sms) {
  if (ranks == 0 || rank >= ranks)
    throw Error(fmt::format("NCCL: rank {} of {} ranks does not exist", rank, ranks));
  auto transport = std::make_unique<NcclTransport>(nccl_api(), id, rank, ranks, most_sms);
  transport->join(seconds);
  return transport;
}

}  // namespace tidemark
