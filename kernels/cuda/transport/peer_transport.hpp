// Panels straight from the memory of peers' GPUs, over NVLink: each rank reads what it needs by
// copy engines.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/peer_memory.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// The words by which the ranks of a launch tell each other how far they are, one array a rank, in
/// device memory that every other rank has open. A word counts gathers of one panel id; copy
/// engines or kernels write it, streams or kernels wait for it. Kept for the rest of the process:
/// another rank may have it open.
class PeerWords {
 public:
  static constexpr std::uint32_t kPanels = 2;  // ids 0 and 1: A and B
  enum class Word : std::uint8_t {
    started,  // rank r has its own shards in place: they may be read
    taken,    // rank r needs none of this rank's shards any more
  };

  PeerWords(std::uint32_t rank, std::uint32_t ranks);

  const DeviceBuffer& own() const { return *own_; }
  /// Opens the words of another rank. Returns why it cannot, or nothing.
  std::string open(const PeerOffer& theirs, std::uint32_t owner);

  /// The word of `from` in this rank's array, and this rank's word in the array of `to`.
  std::uint32_t* mine(std::uint32_t panel, Word word, std::uint32_t from) const;
  std::uint32_t* theirs(std::uint32_t panel, Word word, std::uint32_t to) const;
  /// Frees every stream of this rank that waits for a word, in two seconds at most.
  void release() const;

 private:
  std::size_t index(std::uint32_t panel, Word word, std::uint32_t of) const;

  std::uint32_t rank_, ranks_;
  DeviceBuffer* own_;    // never deleted
  PinnedBuffer beyond_;  // what release() writes
  // Shares no queue with the streams that wait, where there are enough (kEnoughQueues).
  Stream rescue_{Stream::Priority::high};
  std::vector<std::unique_ptr<PeerMapping>> open_;  // by rank; null of this one
};

/// Opens the words of all ranks for each other, over `control`. All ranks call it. Returns the
/// first reason of any rank why it cannot, the same on all, or nothing. Throws Error where a rank
/// does not come to either of its two exchanges within `seconds`.
std::string open_words(Transport& control, PeerWords& words, std::uint32_t rank,
                       std::uint32_t ranks, double seconds);

/// Gathers panels that have PanelBuffer::arrived and go by copy_engine by reading the memory of
/// their owners, all others by `control`, and frees its own streams before it aborts that. All
/// ranks start the same panels in the same order. Panels that are started before the next ready()
/// are fetched together, one behind the other: their copies are then on a stream of this rank and
/// need the host no more. Where streams share a queue (kEnoughQueues), start() puts the copies
/// there. The first gather into new memory, epoch 1, has to open it: it begins inside a later
/// ready(), when all members have started it. Later ones have the same memory, words and shards.
class PeerTransport final : public Transport {
 public:
  PeerTransport(std::unique_ptr<Transport> control, std::unique_ptr<PeerWords> words,
                std::uint32_t rank, std::uint32_t ranks);
  ~PeerTransport() override;

  void start(const PanelBuffer& panel) override;
  bool ready(std::uint32_t id, std::size_t index) override;
  void abort() noexcept override;

 private:
  enum class Stage : std::uint8_t {
    by_control,  // an ordinary panel
    opening,     // handles travel
    started,     // the next ready() fetches it
    fetching,    // all that brings it is on pulls_ and words_written_
    pulling,     // and what comes behind that on the stream of the panel
    leaving,     // it is there; until the others have read this rank's shards, too
    done,
  };
  struct Gathering;

  void open(Gathering& gathering);
  void tell_started(Gathering& gathering);
  bool fetch_started();
  void fetch_by_copy_engines();
  void copy_next(Gathering& gathering);
  void tell_others(Gathering& gathering, PeerWords::Word word);
  void tell_taken(Gathering& gathering);
  bool is_there(const Gathering& gathering) const;
  bool move_on(Gathering& gathering, bool leaves);
  bool close_last_memory();
  void require_sound(const PanelBuffer& panel) const;

  std::unique_ptr<Transport> control_;
  std::unique_ptr<PeerWords> words_;
  const std::uint32_t rank_, ranks_;
  int device_ = 0;
  bool few_queues_ = false;  // stream_queues(); not asked again beside what is timed
  // Of all panels: two streams of copies change places on one engine at each shard, some 15 us.
  Stream pulls_{Stream::Priority::high};
  Stream words_written_{Stream::Priority::high};                    // behind copies
  std::mutex mutex_;                                                // abort() comes from any thread
  std::map<std::uint32_t, std::unique_ptr<Gathering>> gatherings_;  // by panel id
  std::atomic<bool> aborted_ = false;
};

}  // namespace tidemark
