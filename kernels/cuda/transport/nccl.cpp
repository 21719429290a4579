// NCCL without a wait: its functions, communicators, and panels.
#include "kernels/cuda/transport/nccl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/transport/gather.hpp"

namespace tidemark {

// Finds libnccl.so.2 and the functions in it. Never linked: only the types come from nccl.h.

namespace {

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw Error(fmt::format("libnccl.so.2 has no {}: install NCCL 2.14 or newer", name));
}

}  // namespace

NcclApi load_nccl(const char* library) {
  // No route of panels needs it. Left on, NCCL sets up NVLink multicast that nobody uses, on a
  // communicator's first breath. A value that the user chose stays.
  (void)setenv("NCCL_NVLS_ENABLE", "0", 0);
  // Never closed: NCCL's own threads may still run in it when the program ends.
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(
        fmt::format("cannot load NCCL ({}): install it or add its folder to "
                    "LD_LIBRARY_PATH",
                    dlerror()));
  NcclApi api;
  look_up(handle, "ncclGetErrorString", api.get_error_string);
  look_up(handle, "ncclGetLastError", api.get_last_error);
  look_up(handle, "ncclGetUniqueId", api.get_unique_id);
  look_up(handle, "ncclCommInitRankConfig", api.comm_init_rank_config);
  look_up(handle, "ncclCommGetAsyncError", api.comm_get_async_error);
  look_up(handle, "ncclCommFinalize", api.comm_finalize);
  look_up(handle, "ncclCommDestroy", api.comm_destroy);
  look_up(handle, "ncclCommAbort", api.comm_abort);
  look_up(handle, "ncclGroupStart", api.group_start);
  look_up(handle, "ncclGroupEnd", api.group_end);
  look_up(handle, "ncclSend", api.send);
  look_up(handle, "ncclRecv", api.recv);
  return api;
}

const NcclApi& nccl_api() {
  static const NcclApi api = load_nccl();
  return api;
}

void nccl_check(const NcclApi& api, ncclResult_t code, const std::string& what, Where where) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* const detail = api.get_last_error(nullptr);
  const bool more = detail != nullptr && detail[0] != '\0';
  throw Error(fmt::format("{}: NCCL: {} ({}){}{}", what, api.get_error_string(code),
                          static_cast<int>(code), more ? ": " : "", more ? detail : ""),
              where);
}

// NCCL User Guide, "Fault Tolerance": non-blocking communicators.

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::microseconds(200);
constexpr auto kLeaveBound = std::chrono::seconds(5);
constexpr auto kAbortBound = std::chrono::seconds(2);

static_assert(sizeof(ncclUniqueId) == sizeof(NcclId));

bool is_refusal(ncclResult_t code) { return code != ncclSuccess && code != ncclInProgress; }

}  // namespace

NcclCommunicator::NcclCommunicator(const NcclApi& api, const NcclId& id, std::uint32_t rank,
                                   std::uint32_t ranks, std::uint32_t most_sms)
    : api_(api) {
  ncclUniqueId unique{};
  std::memcpy(&unique, id.data(), id.size());
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (most_sms != 0) config.maxCTAs = static_cast<int>(most_sms);  // an SM to each
  const ncclResult_t code = api_.comm_init_rank_config(&comm_, static_cast<int>(ranks), unique,
                                                       static_cast<int>(rank), &config);
  if (is_refusal(code)) abort();  // nobody destroys an object whose constructor throws
  nccl_check(api_, code, fmt::format("rank {} of {} joins the communicator", rank, ranks));
}

bool NcclCommunicator::in_progress(const std::string& what) {
  if (comm_ == nullptr) throw Error("the NCCL transport was aborted");
  ncclResult_t state = ncclSuccess;
  nccl_check(api_, api_.comm_get_async_error(comm_, &state), "ask for the communicator's state");
  nccl_check(api_, state, what);
  return state == ncclInProgress;
}

ncclComm_t NcclCommunicator::release() { return std::exchange(comm_, nullptr); }

void NcclCommunicator::abort() noexcept {
  const ncclComm_t comm = release();
  give_up(api_, {&comm, 1});
}

void NcclCommunicator::give_up(const NcclApi& api, std::span<const ncclComm_t> comms) noexcept try {
  const auto deadline = Clock::now() + kAbortBound;
  std::vector<std::future<void>> ends;
  for (const ncclComm_t comm : comms) {
    if (comm == nullptr) continue;
    auto ended = std::make_shared<std::promise<void>>();
    ends.push_back(ended->get_future());
    std::thread([abort = api.comm_abort, comm, ended] {
      (void)abort(comm);
      ended->set_value();
    }).detach();
  }
  for (const std::future<void>& end : ends) (void)end.wait_until(deadline);
} catch (...) {  // no thread to be had: then the communicators stay as they are
}

bool NcclCommunicator::leave() {
  if (comm_ == nullptr) return true;
  const auto deadline = Clock::now() + kLeaveBound;
  ncclResult_t state = api_.comm_finalize(comm_);
  while (state == ncclInProgress && Clock::now() < deadline) {
    std::this_thread::sleep_for(kPollInterval);
    if (api_.comm_get_async_error(comm_, &state) != ncclSuccess) return false;
  }
  return state == ncclSuccess && api_.comm_destroy(release()) == ncclSuccess;
}

// A non-blocking communicator takes one group at a time, so panels wait in a queue; each call of
// ready() moves the queue on and none of them waits.

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
