// NCCL User Guide, "Zero-CTA Optimization" and "Window Registration". NCCL 2.28 does so for
// all-gathers, not for sends and receives, and only where both sides lie in windows.
#include "kernels/cuda/transport/nccl_zero_cta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/spin.hpp"
#include "kernels/cuda/transport/exchange.hpp"
#include "kernels/cuda/transport/stream_words.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSlotBytes = std::uint64_t{16} << 20;
constexpr auto kPollInterval = std::chrono::microseconds(200);
constexpr auto kGroupBound = std::chrono::seconds(15);  // below that of what is gathered then
constexpr auto kLeaveBound = std::chrono::seconds(5);
constexpr std::uint64_t kOddBytes = 520;  // small copies may go by other means than large ones
constexpr std::uint64_t kSpinNs = 200'000'000;  // a host that is busy may take long to ask
constexpr NcclMeans kByCopyEngines{.most_sms = 0, .copy_engines = true};

/// By a copy engine: cudaMemcpyAsync copies within a GPU by a kernel, which finds no SM beside a
/// product and waits for its end (16 MiB: 474 us instead of 27).
void copy(std::byte* to, const std::byte* from, std::size_t bytes, cudaStream_t stream) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
  void* const to_all[] = {to};
  const void* const from_all[] = {from};
  std::size_t first = 0;
  cuda_check(cudaMemcpyBatchAsync(to_all, from_all, &bytes, 1, &attributes, &first, 1, stream),
             "copy a piece of a panel");
}

void mark(const Event& event, const Stream& stream) {
  cuda_check(cudaEventRecord(event.get(), stream.get()), "mark the end of a gather");
}

bool is_over(cudaError_t state, const char* what) {
  if (state == cudaErrorNotReady) return false;
  cuda_check(state, what);
  return true;
}

}  // namespace

NcclZeroCtaTransport::NcclZeroCtaTransport(const NcclApi& api,
                                           std::unique_ptr<NcclCommunicator> all,
                                           std::uint32_t rank, std::uint32_t ranks)
    : api_(api),
      rank_(rank),
      ranks_(ranks),
      who_(fmt::format("rank {}: communicate by copy engines", rank)),
      all_(std::move(all)) {}

NcclZeroCtaTransport::~NcclZeroCtaTransport() {
  // As NcclTransport: what is in flight may never end.
  if (!leave()) abort();
  // A thread of NCCL may still write to the group whose window it was making.
  for (std::unique_ptr<Group>& group : groups_)
    if (group->window == nullptr) static_cast<void>(group.release());
}

void NcclZeroCtaTransport::pause(Lock& lock, Deadline deadline) const {
  if (Clock::now() > deadline)
    throw Error(
        fmt::format("rank {}: not all members of a panel made their communicator in time: look for "
                    "a rank that died or hangs",
                    rank_));
  lock.unlock();
  std::this_thread::sleep_for(kPollInterval);
  lock.lock();
}

void NcclZeroCtaTransport::settle(NcclCommunicator& comm, Lock& lock, Deadline deadline) {
  while (comm.in_progress(who_)) pause(lock, deadline);
}

void NcclZeroCtaTransport::wait_for_stream(const Group& group, const Stream& stream, Lock& lock,
                                           Deadline deadline) {
  while (!is_over(cudaStreamQuery(stream.get()), "gather in windows")) {
    static_cast<void>(group.comm->in_progress(who_));
    pause(lock, deadline);
  }
}

NcclZeroCtaTransport::Group& NcclZeroCtaTransport::group_of(
    const std::vector<std::uint32_t>& members, Lock& lock, Deadline deadline) {
  for (const std::unique_ptr<Group>& group : groups_)
    if (group->members == members) return *group;
  settle(*all_, lock, deadline);
  if (!stream_) stream_.emplace(Stream::Priority::high);
  auto made = std::make_unique<Group>();
  Group& group = *made;
  group.members = members;
  const auto own = std::find(members.begin(), members.end(), rank_);
  group.own = static_cast<std::size_t>(own - members.begin());
  group.comm = std::make_unique<NcclCommunicator>(*all_, members.front(), rank_, kByCopyEngines);
  groups_.push_back(std::move(made));  // now: abort() has to find it
  settle(*group.comm, lock, deadline);
  const std::size_t bytes = members.size() * kSlotBytes;
  void* slots = nullptr;
  nccl_check(api_, api_.mem_alloc(&slots, bytes), "take memory for a window");
  group.slots = static_cast<std::byte*>(slots);
  nccl_check(
      api_,
      api_.window_register(group.comm->get(), slots, bytes, &group.window, NCCL_WIN_COLL_SYMMETRIC),
      "register a window");
  settle(*group.comm, lock, deadline);
  // NCCL takes memory in the first one, which may wait for all streams of the GPU.
  gather_slots(group, kPieceUnit);
  settle(*group.comm, lock, deadline);
  wait_for_stream(group, *stream_, lock, deadline);
  return group;
}

void NcclZeroCtaTransport::gather_slots(const Group& group, std::uint64_t bytes) {
  nccl_check(api_,
             api_.all_gather(group.slots + group.own * bytes, group.slots, bytes, ncclUint8,
                             group.comm->get(), stream_->get()),
             who_);
}

bool NcclZeroCtaTransport::needs_no_sm(double seconds) {
  const auto bound = std::chrono::duration<double>(seconds);
  const Deadline deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(bound);
  Lock lock(mutex_);
  std::vector<std::uint32_t> everybody(ranks_);
  std::iota(everybody.begin(), everybody.end(), 0U);
  Group& group = group_of(everybody, lock, deadline);
  const Stream busy;
  launch_spin(kSpinNs, busy.get());
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // until it has the SMs
  if (ranks_ > 1)
    for (const std::uint64_t bytes : {kSlotBytes, kOddBytes})  // as send() and receive()
      copy(group.slots + kSlotBytes, group.slots, bytes, stream_->get());
  gather_slots(group, kPieceUnit);
  settle(*group.comm, lock, deadline);
  const Event gathered;
  mark(gathered, *stream_);
  bool gathered_first = false;
  bool spun = false;
  while (!gathered_first && !spun) {
    gathered_first = is_over(cudaEventQuery(gathered.get()), "gather beside a kernel");
    spun = is_over(cudaStreamQuery(busy.get()), "keep all SMs");
  }
  wait_for_stream(group, *stream_, lock, deadline);
  wait_for_stream(group, busy, lock, deadline);
  return gathered_first && !spun;
}

void NcclZeroCtaTransport::start(const PanelBuffer& panel) {
  Lock lock(mutex_);
  static_cast<void>(all_->in_progress(who_));
  require_members(panel, rank_, ranks_);
  const auto found = gatherings_.find(panel.id);
  if (found != gatherings_.end() && !is_done(found->second))
    throw Error(
        fmt::format("panel {} is started again while it is still being gathered", panel.id));
  Group* group = nullptr;
  // By its members, not by its bytes: all ranks split communicators together, also those whose own
  // panel is empty.
  const std::set<std::uint32_t> members = members_of(panel);
  if (members.size() > 1)
    group = &group_of({members.begin(), members.end()}, lock, Clock::now() + kGroupBound);
  Gathering& gathering = gatherings_[panel.id];
  gathering.panel = panel;
  gathering.group = group;
  gathering.pieces =
      group == nullptr ? std::vector<Piece>{} : pieces_of(panel, group->members, kSlotBytes);
  gathering.next = 0;
  gathering.sent = false;
  if (!gathering.pieces.empty()) queue_.push_back(panel.id);
}

bool NcclZeroCtaTransport::is_done(const Gathering& gathering) {
  return gathering.pieces.empty() ||
         (gathering.next == gathering.pieces.size() &&
          is_over(cudaEventQuery(gathering.done->get()), "gather a panel"));
}

bool NcclZeroCtaTransport::ready(std::uint32_t id, std::size_t index) {
  const std::lock_guard lock(mutex_);
  static_cast<void>(all_->in_progress(who_));
  advance();
  const auto found = gatherings_.find(id);
  if (found == gatherings_.end()) throw Error(fmt::format("panel {} was never started", id));
  const Gathering& gathering = found->second;
  return gathering.panel.shards.at(index).rows == 0 || is_done(gathering);
}

void NcclZeroCtaTransport::advance() {
  while (!queue_.empty()) {
    Gathering& gathering = gatherings_.at(queue_.front());
    if (gathering.group->comm->in_progress(who_)) return;
    if (gathering.sent) receive(gathering);
    if (gathering.next < gathering.pieces.size()) {
      send(gathering);
      continue;
    }
    if (!gathering.done) gathering.done.emplace();
    mark(*gathering.done, *stream_);
    queue_.pop_front();
  }
}

void NcclZeroCtaTransport::send(Gathering& gathering) {
  const Group& group = *gathering.group;
  const Piece& piece = gathering.pieces[gathering.next];
  const PiecePart& own = piece.parts[group.own];
  if (own.bytes > 0)
    copy(group.slots + group.own * piece.bytes, gathering.panel.base + own.offset, own.bytes,
         stream_->get());
  gather_slots(group, piece.bytes);
  gathering.sent = true;
}

/// Only now: until NCCL is out of progress the piece may not be on the stream, and copies would
/// come before it. Behind them the slots may be written again: by this rank, in order of the
/// stream, and by others, whose collective begins with all ranks there. The own slot of the next
/// piece may overlap others' of this one, since pieces differ in size.
void NcclZeroCtaTransport::receive(Gathering& gathering) {
  const Group& group = *gathering.group;
  const Piece& piece = gathering.pieces[gathering.next];
  for (std::size_t i = 0; i < piece.parts.size(); ++i) {
    const PiecePart& part = piece.parts[i];
    if (i == group.own || part.bytes == 0) continue;
    copy(gathering.panel.base + part.offset, group.slots + i * piece.bytes, part.bytes,
         stream_->get());
    if (part.last)
      write_word(stream_->get(), gathering.panel.arrived + part.shard, gathering.panel.epoch);
  }
  gathering.sent = false;
  ++gathering.next;
}

void NcclZeroCtaTransport::abort() noexcept {
  std::vector<ncclComm_t> comms;
  {
    const std::lock_guard lock(mutex_);
    // Their memory stays: others may still write to it.
    for (const std::unique_ptr<Group>& group : groups_)
      if (group->comm) comms.push_back(group->comm->release());
    comms.push_back(all_->release());
  }
  NcclCommunicator::give_up(api_, comms);
}

bool NcclZeroCtaTransport::leave() noexcept try {
  Lock lock(mutex_);
  if (all_->get() == nullptr) return true;
  if (!queue_.empty() || (stream_ && cudaStreamQuery(stream_->get()) != cudaSuccess)) return false;
  for (const std::unique_ptr<Group>& group : groups_) {
    if (group->window == nullptr) return false;
    nccl_check(api_, api_.window_deregister(group->comm->get(), group->window), who_);
    settle(*group->comm, lock, Clock::now() + kLeaveBound);
    if (!group->comm->leave() || api_.mem_free(group->slots) != ncclSuccess) return false;
  }
  return all_->leave();
} catch (const std::exception&) {
  return false;
}

}  // namespace tidemark::kernels
