// Every step that depends on another rank is a word that a copy engine or a kernel writes and a
// stream or a kernel waits for, so that the host is in no path but that of the first gather.
#include "kernels/cuda/transport/peer_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/transport/gather.hpp"

namespace tidemark {
namespace {

/// Panels of handles: an id of their own for each panel that is opened.
constexpr std::uint32_t kFirstOffers = 100;

constexpr std::uint32_t kPanelOffers = 110;
constexpr std::uint32_t kPanelReasons = 111;

bool is_done(const Event& event, const char* what) {
  const cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaErrorNotReady) return false;
  cuda_check(state, what);
  return true;
}

/// Later gathers go by what was opened and listed for the first.
void require_same_memory(const PanelBuffer& before, const PanelBuffer& panel) {
  if (panel.epoch == 1 || (before.base == panel.base && before.arrived == panel.arrived &&
                           before.row_bytes == panel.row_bytes && before.shards == panel.shards &&
                           before.route == panel.route))
    return;
  throw Error(
      fmt::format("panel {}: gather {} is into other memory than the first one, or of other shards",
                  panel.id, panel.epoch));
}

}  // namespace

PeerWords::PeerWords(std::uint32_t rank, std::uint32_t ranks)
    : rank_(rank),
      ranks_(ranks),
      own_(new DeviceBuffer),
      beyond_(index(kPanels, Word::started, 0) * sizeof(std::uint32_t)),
      open_(ranks) {
  grow_for_peers(*own_, beyond_.size());
  // Beyond every count that a stream can wait for, and not yet half way round.
  std::memset(beyond_.data(), 0x3f, beyond_.size());
  cuda_check(cudaMemset(own_->data(), 0, own_->size()), "clear the words of this rank");
  cuda_check(cudaStreamSynchronize(nullptr), "clear the words of this rank");
}

std::string PeerWords::open(const PeerOffer& theirs, std::uint32_t owner) {
  open_.at(owner) = std::make_unique<PeerMapping>();
  return open_[owner]->open(theirs, owner);
}

std::size_t PeerWords::index(std::uint32_t panel, Word word, std::uint32_t of) const {
  return (std::size_t{panel} * 2 + static_cast<std::size_t>(word)) * ranks_ + of;
}

std::uint32_t* PeerWords::mine(std::uint32_t panel, Word word, std::uint32_t from) const {
  return own_->as<std::uint32_t>() + index(panel, word, from);
}

std::uint32_t* PeerWords::theirs(std::uint32_t panel, Word word, std::uint32_t to) const {
  return reinterpret_cast<std::uint32_t*>(open_.at(to)->data()) + index(panel, word, rank_);
}

void PeerWords::release() const {
  // By a copy engine: a product that waits may have all SMs.
  cuda_check(cudaMemcpyAsync(own_->data(), beyond_.data(), beyond_.size(), cudaMemcpyHostToDevice,
                             rescue_.get()),
             "free the streams that wait for other ranks");
  static_cast<void>(wait_for_stream(rescue_.get(), 2));
}

std::string open_words(Transport& control, PeerWords& words, std::uint32_t rank,
                       std::uint32_t ranks, double seconds) {
  const PeerOffer mine = offer_of(words.own().data(), 0, words.own().size());
  const std::vector<PeerOffer> offers =
      rows_of_all(control, kPanelOffers, rank, ranks, mine, seconds);
  std::string cannot;
  for (std::uint32_t other = 0; other < ranks && cannot.empty(); ++other) {
    if (other == rank) continue;
    try {
      cannot = cannot_open(mine, offers[other], other);
      if (cannot.empty()) cannot = words.open(offers[other], other);
    } catch (const StickyError&) {
      throw;
    } catch (const Error& error) {
      cannot = error.what();  // the others wait for a reason, too
    }
  }
  return first_reason(control, kPanelReasons, rank, ranks, "cannot read the memory of all others",
                      cannot, seconds);
}

struct PeerTransport::Gathering {
  PanelBuffer panel;
  Stage stage = Stage::done;
  std::uint32_t count = 0;            // gathers of this id, equal on all ranks
  std::vector<std::uint32_t> others;  // members but this rank
  std::map<std::uint32_t, std::unique_ptr<PeerMapping>> memory;  // of the panel, by rank
  Stream stream;
  Event fetched, left;
  std::vector<std::size_t> order;  // fetch_order() of the panel
  std::size_t next = 0;            // in it
  // Owners whose word the stream has waited for, and an event for each of `order`.
  std::set<std::uint32_t> awaited;
  std::vector<Event> copied;
  DeviceBuffer count_word;  // that other ranks' words are copied from
  DeviceBuffer offers;      // one PeerOffer a member
};

PeerTransport::PeerTransport(std::unique_ptr<Transport> control, std::unique_ptr<PeerWords> words,
                             std::uint32_t rank, std::uint32_t ranks)
    : control_(std::move(control)), words_(std::move(words)), rank_(rank), ranks_(ranks) {
  cuda_check(cudaGetDevice(&device_), "ask for the current GPU");
  require_stream_words();
  few_queues_ = stream_queues() < kEnoughQueues;
}

PeerTransport::~PeerTransport() {
  const auto in_flight = [](const auto& entry) {
    return entry.second->stage != Stage::done && entry.second->stage != Stage::by_control;
  };
  if (std::any_of(gatherings_.begin(), gatherings_.end(), in_flight)) abort();
}

void PeerTransport::require_sound(const PanelBuffer& panel) const {
  if (panel.id >= PeerWords::kPanels)
    throw Error(fmt::format("panel {}: only panels 0 and 1 are read from peers", panel.id));
  if (panel.epoch == 0) throw Error(fmt::format("panel {}: epochs count from 1", panel.id));
  if (panel.begin != nullptr && panel.epoch == 1)
    throw Error(fmt::format("panel {}: only later gathers wait for a word", panel.id));
  require_members(panel, rank_, ranks_);
}

void PeerTransport::start(const PanelBuffer& panel) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Gathering>& found = gatherings_[panel.id];
  if (!found) found = std::make_unique<Gathering>();
  Gathering& gathering = *found;
  if (aborted_) throw Error("the transport between peers was aborted");
  if (gathering.stage != Stage::done && gathering.stage != Stage::by_control)
    throw Error(
        fmt::format("panel {} is started again while it is still being gathered: wait for all its "
                    "shards",
                    panel.id));
  if (panel.arrived == nullptr || panel.route != PanelRoute::copy_engine) {
    gathering.stage = Stage::by_control;
    return control_->start(panel);
  }
  gathering.stage = Stage::done;
  require_sound(panel);
  require_same_memory(gathering.panel, panel);
  gathering.panel = panel;
  ++gathering.count;
  gathering.others.clear();
  for (const std::uint32_t member : members_of(panel))
    if (member != rank_) gathering.others.push_back(member);
  const auto is_empty = [](const Shard& shard) { return shard.rows == 0; };
  const bool nothing = std::all_of(panel.shards.begin(), panel.shards.end(), is_empty);
  if (nothing || gathering.others.empty()) return;
  if (panel.epoch == 1) return open(gathering);
  tell_started(gathering);
  // Before the product, on all ranks in one order: behind it copies would wait for it, and it for
  // them.
  if (few_queues_) fetch_started();
}

/// Handles of this panel's memory to and from every member, in order of members.
void PeerTransport::open(Gathering& gathering) {
  const PanelBuffer& panel = gathering.panel;
  const std::set<std::uint32_t> members = members_of(panel);
  gathering.memory.clear();
  // Here, where nothing is in flight yet: to free the smaller ones may wait for the whole GPU.
  grow(gathering.count_word, sizeof(std::uint32_t));
  grow(gathering.offers, members.size() * sizeof(PeerOffer));
  PanelBuffer offers{.id = kFirstOffers + panel.id,
                     .base = gathering.offers.data(),
                     .row_bytes = sizeof(PeerOffer),
                     .shards = {}};
  for (const std::uint32_t member : members) {
    const std::uint64_t row = offers.shards.size();
    offers.shards.push_back({.owner = member, .first_row = row, .rows = 1});
    if (member != rank_) continue;
    const PeerOffer mine = offer_of(panel.base, gathering.count);
    cuda_check(cudaMemcpyAsync(offers.base + row * sizeof(mine), &mine, sizeof(mine),
                               cudaMemcpyHostToDevice, gathering.stream.get()),
               "offer a panel");
  }
  cuda_check(cudaStreamSynchronize(gathering.stream.get()), "offer a panel");
  control_->start(offers);
  gathering.stage = Stage::opening;
}

void PeerTransport::tell_others(Gathering& gathering, PeerWords::Word word) {
  const cudaStream_t stream = gathering.stream.get();
  write_word(stream, gathering.count_word.as<std::uint32_t>(), gathering.count);
  for (const std::uint32_t other : gathering.others)
    // A copy, not a write of the stream: that is promised for memory of this GPU only.
    cuda_check(cudaMemcpyAsync(words_->theirs(gathering.panel.id, word, other),
                               gathering.count_word.data(), sizeof(std::uint32_t),
                               cudaMemcpyDeviceToDevice, stream),
               "tell another rank");
}

/// What is needed before the next ready() fetches the panel.
void PeerTransport::tell_started(Gathering& gathering) {
  const PanelBuffer& panel = gathering.panel;
  gathering.next = 0;
  gathering.awaited.clear();
  gathering.stage = Stage::started;
  if (panel.begin != nullptr) wait_for_word(gathering.stream.get(), panel.begin, panel.begin_value);
  tell_others(gathering, PeerWords::Word::started);
}

void PeerTransport::copy_next(Gathering& gathering) {
  const PanelBuffer& panel = gathering.panel;
  const std::size_t index = gathering.order[gathering.next++];
  const Shard& shard = panel.shards[index];
  // Until then the owner may still write its shards.
  if (gathering.awaited.insert(shard.owner).second)
    wait_for_word(pulls_.get(), words_->mine(panel.id, PeerWords::Word::started, shard.owner),
                  gathering.count);
  const std::uint64_t offset = shard.first_row * panel.row_bytes;
  cuda_check(cudaMemcpyAsync(panel.base + offset, gathering.memory.at(shard.owner)->data() + offset,
                             shard.rows * panel.row_bytes, cudaMemcpyDeviceToDevice, pulls_.get()),
             "copy a shard of another rank");
  // Not on the stream of the copies: the next one would wait until the word is written.
  const Event& copied = gathering.copied.at(gathering.next - 1);
  cuda_check(cudaEventRecord(copied.get(), pulls_.get()), "mark the end of a shard");
  cuda_check(cudaStreamWaitEvent(words_written_.get(), copied.get(), 0),
             "put a word behind its shard");
  write_word(words_written_.get(), panel.arrived + index, panel.epoch);
}

/// None of the copies needs the host again.
void PeerTransport::fetch_by_copy_engines() {
  std::pair<std::uint32_t*, std::uint32_t> begun;
  for (const auto& [id, gathering] : gatherings_) {
    const PanelBuffer& panel = gathering->panel;
    if (gathering->stage != Stage::started) continue;
    // Also of an owner that has begun: no panel may change before its own rank has. Once for both
    // panels of a product: each wait stands between two copies.
    if (panel.begin != nullptr && std::pair(panel.begin, panel.begin_value) != begun)
      wait_for_word(pulls_.get(), panel.begin, panel.begin_value);
    begun = {panel.begin, panel.begin_value};
    while (gathering->next < gathering->order.size()) copy_next(*gathering);
    cuda_check(cudaEventRecord(gathering->fetched.get(), words_written_.get()),
               "mark the end of a panel");
  }
}

/// All panels that wait for it, one behind the other. False where there is none.
bool PeerTransport::fetch_started() {
  const auto waits = [](const auto& entry) { return entry.second->stage == Stage::started; };
  if (std::none_of(gatherings_.begin(), gatherings_.end(), waits)) return false;
  fetch_by_copy_engines();
  for (const auto& [id, gathering] : gatherings_) {
    if (gathering->stage == Stage::started) gathering->stage = Stage::fetching;
  }
  return true;
}

/// Others may change or free what this rank has read, and this rank what they have.
void PeerTransport::tell_taken(Gathering& gathering) {
  tell_others(gathering, PeerWords::Word::taken);
  for (const std::uint32_t other : gathering.others)
    wait_for_word(gathering.stream.get(),
                  words_->mine(gathering.panel.id, PeerWords::Word::taken, other), gathering.count);
  cuda_check(cudaEventRecord(gathering.left.get(), gathering.stream.get()),
             "mark that others have a panel");
}

bool PeerTransport::is_there(const Gathering& gathering) const {
  return is_done(gathering.fetched, "fetch a panel");
}

/// True where the stage was left.
bool PeerTransport::move_on(Gathering& gathering, bool leaves) {
  PanelBuffer& panel = gathering.panel;
  switch (gathering.stage) {
    case Stage::by_control:
    case Stage::done:
      return false;
    case Stage::opening: {
      // One after the other on all ranks: where streams share a queue, copies that wait for a rank
      // must not come before the word that this rank has to give another.
      for (const auto& [id, other] : gatherings_)
        if (id < panel.id && other->stage == Stage::opening) return false;
      const std::set<std::uint32_t> members = members_of(panel);
      for (std::size_t row = 0; row < members.size(); ++row)
        if (!control_->ready(kFirstOffers + panel.id, row)) return false;
      std::vector<PeerOffer> offers(members.size());
      cuda_check(
          cudaMemcpyAsync(offers.data(), gathering.offers.data(), offers.size() * sizeof(PeerOffer),
                          cudaMemcpyDeviceToHost, gathering.stream.get()),
          "read the offers of a panel");
      cuda_check(cudaStreamSynchronize(gathering.stream.get()), "read the offers of a panel");
      const PeerOffer* theirs = offers.data();
      for (const std::uint32_t member : members) {
        const PeerOffer& offer = *theirs++;
        if (member == rank_) continue;
        if (offer.seed != gathering.count)
          throw Error(fmt::format("panel {}: rank {} has started it {} times, this rank {} times",
                                  panel.id, member, offer.seed, gathering.count));
        if (offer.code != 0)
          throw Error(fmt::format("panel {}: rank {} cannot share its memory: {}", panel.id, member,
                                  cudaGetErrorString(static_cast<cudaError_t>(offer.code))));
        auto& mapping = gathering.memory[member] = std::make_unique<PeerMapping>();
        const std::string cannot = mapping->open(offer, member);
        if (!cannot.empty()) throw Error(cannot);
      }
      gathering.order = fetch_order(panel.shards, rank_);
      while (gathering.copied.size() < gathering.order.size()) gathering.copied.emplace_back();
      // At once, and all that comes behind it: nothing runs beside a first gather, and in a queue
      // that streams share every rank is to have all of a panel before anything of the next one.
      tell_started(gathering);
      fetch_started();
      return true;
    }
    case Stage::started:
      return false;
    case Stage::fetching:
      cuda_check(cudaStreamWaitEvent(gathering.stream.get(), gathering.fetched.get(), 0),
                 "put what follows behind a panel");
      if (!panel.last) tell_taken(gathering);
      gathering.stage = Stage::pulling;
      return true;
    case Stage::pulling:
      if (!is_there(gathering)) return false;
      if (panel.last) {
        // Closing may wait for all kernels and streams of this GPU. So it waits until the caller
        // asks for its own shards, behind its product, and all panels are closed before any stream
        // waits until others have closed theirs.
        if (!leaves || !close_last_memory()) return false;
        tell_taken(gathering);
      }
      gathering.stage = Stage::leaving;
      return true;
    case Stage::leaving:
      if (!is_done(gathering.left, "wait until others have a panel")) return false;
      gathering.stage = Stage::done;
      return true;
  }
  return false;
}

/// Closes what the last gathers have opened, before the owners free it. False where one of them is
/// not through yet.
bool PeerTransport::close_last_memory() {
  for (const auto& [id, gathering] : gatherings_) {
    if (!gathering->panel.last || gathering->stage == Stage::by_control) continue;
    while (move_on(*gathering, false)) {
    }
    const bool begins = gathering->stage == Stage::opening || gathering->stage == Stage::started ||
                        gathering->stage == Stage::fetching;
    if (begins || (gathering->stage == Stage::pulling && !is_there(*gathering))) return false;
  }
  for (const auto& [id, gathering] : gatherings_)
    if (gathering->panel.last) gathering->memory.clear();
  return true;
}

bool PeerTransport::ready(std::uint32_t id, std::size_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = gatherings_.find(id);
  if (found == gatherings_.end()) throw Error(fmt::format("panel {} was never started", id));
  Gathering& gathering = *found->second;
  if (gathering.stage == Stage::by_control) return control_->ready(id, index);
  if (aborted_) throw Error("the transport between peers was aborted");
  const bool own = gathering.panel.shards.at(index).owner == rank_;
  // Not in start(): the next panel would come behind all of this one. And no more than that now: a
  // product that is to run beside it is launched next.
  if (fetch_started()) return false;
  while (move_on(gathering, own)) {
  }
  // Also of an empty shard of this rank's: who owns nothing has a panel to leave, too.
  const Shard& shard = gathering.panel.shards.at(index);
  if (gathering.stage == Stage::done) return true;
  if (own) return false;
  if (shard.rows == 0 || gathering.stage == Stage::leaving) return true;
  return gathering.stage == Stage::pulling && is_there(gathering);
}

void PeerTransport::abort() noexcept {
  if (aborted_.exchange(true)) return;
  try {
    cuda_check(cudaSetDevice(device_), "take the GPU of this rank");  // any thread may call
    // First: what aborts a communicator frees memory, which waits for all streams of this GPU and
    // may keep every other call out until they have ended.
    words_->release();
    for (const Stream* stream : {&pulls_, &words_written_})
      static_cast<void>(wait_for_stream(stream->get(), 2));
  } catch (const Error&) {
    // The GPU is lost, and with it whatever was in flight.
  }
  control_->abort();
  const std::lock_guard lock(mutex_);
  try {
    for (const auto& [id, gathering] : gatherings_)
      static_cast<void>(wait_for_stream(gathering->stream.get(), 2));
  } catch (const Error&) {
    // The GPU is lost, and with it whatever was in flight.
  }
}

}  // namespace tidemark
