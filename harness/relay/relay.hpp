// The relay transport of the virtual device. The supervisor's side carries shards between the
// segments of its own slots and, by the mesh, to and from those of other ranks.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/hand_over.hpp"
#include "harness/relay/mesh.hpp"
#include "harness/relay/segment.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// A copy of what a worker has posted.
struct RelayPosted {
  std::uint32_t posting = 0, shards = 0;
  std::uint64_t row_bytes = 0, table = 0, data = 0, bytes = 0;
};

/// Serves one segment a local slot. step() does a bounded piece of work and never blocks. What a
/// worker writes into its segment is checked before it is used: a crashed worker may leave anything
/// there.
class RelayMover {
 public:
  /// `rank_of_slot` names the supervisor of every slot of the launch.
  RelayMover(Mesh& mesh, std::vector<std::uint32_t> rank_of_slot, HandOverDelays delays = {});

  /// Forgets everything in flight and makes new segments for the slots of this rank. Pieces that
  /// still come from an earlier epoch are dropped. All ranks use the same number.
  void begin_epoch(std::uint32_t epoch);
  /// The segment for the worker of this local slot.
  int segment_fd(std::uint32_t slot) const { return boxes_.at(slot).segment.fd(); }

  /// True when something moved.
  bool step();

 private:
  /// One shard on its way to one slot.
  struct Outgoing {
    std::uint32_t to = 0, sequence = 0, shard = 0;
    std::uint64_t from_byte = 0, bytes = 0, sent = 0;
  };
  /// What this side keeps of a posted panel.
  struct Panel {
    std::uint32_t posting = 0;  // 0: none adopted
    std::uint64_t table = 0, data = 0;
    std::vector<std::uint32_t> owner = {};
    std::vector<std::uint64_t> first_byte = {}, bytes = {}, got = {};
    std::vector<std::uint32_t> unsent = {};  // of an own shard: peers that do not have it yet
    std::map<std::uint32_t, std::uint32_t> sequence = {};  // with this peer, all postings counted
    std::deque<Outgoing> outgoing = {};
  };
  /// A piece of a shard as it travels.
  struct Piece {
    std::uint32_t epoch = 0, id = 0, from = 0, to = 0, sequence = 0, shard = 0;
    std::uint64_t offset = 0;  // in the shard
    std::string bytes;
  };
  struct Box {
    explicit Box(Segment made) : segment(std::move(made)) {}
    Segment segment;
    std::map<std::uint32_t, Panel> panels;  // by id
    std::vector<Piece> early;               // for panels the worker has not posted yet
    bool broken = false;                    // its table was nonsense: left alone
  };

  bool adopt_postings(std::uint32_t slot, Box& box);
  void adopt(std::uint32_t slot, Box& box, std::uint32_t id, const RelayPosted& posted);
  std::set<std::uint32_t> read_table(Box& box, Panel& panel, const RelayPosted& posted) const;
  bool send_some(std::uint32_t slot, Box& box);
  void send_piece(std::uint32_t slot, Box& box, std::uint32_t id, Panel& panel);
  void deliver(Piece piece);
  bool place(Box& box, const Piece& piece);
  void mark(Box& box, const Panel& panel, std::size_t shard);
  static std::string packed(const Piece& piece);
  static bool unpacked(std::string_view bytes, Piece& piece);

  Mesh& mesh_;
  std::vector<std::uint32_t> rank_of_slot_;
  HandOverDelays delays_;
  std::uint32_t epoch_ = 0;
  std::map<std::uint32_t, Box> boxes_;  // by local slot
  std::vector<Piece> ahead_;            // of an epoch that has not begun here
};

// The worker's side: panels go through a segment that the supervisor empties and fills.

/// Panels in host memory. Ranks of shards are slots of the launch. A panel goes to every owner in
/// its shard list; a rank that owns nothing of it appears there with an empty shard.
class RelayTransport : public Transport {
 public:
  /// Uses the segment behind `segment_fd`, which stays open. Throws Error.
  RelayTransport(int segment_fd, std::uint32_t rank, HandOverDelays delays = {});

  /// Throws Error also where the last panel with this id is still being gathered.
  void start(const PanelBuffer& panel) override;
  /// Copies a shard that has come into the panel, then writes its word: a reader that waits for
  /// words has somebody ask for every shard.
  bool ready(std::uint32_t id, std::size_t index) override;
  void abort() noexcept override;

 private:
  struct Region {
    std::uint64_t offset = 0, bytes = 0;
  };
  struct Flight {
    PanelBuffer panel;
    std::size_t place = 0;  // in the header's table
    std::uint32_t posting = 0;
    Region region;
    std::uint64_t table = 0, data = 0;
    std::vector<bool> copied;
  };

  bool gathered(const Flight& flight);
  void reserve(Flight& flight, std::uint64_t table_bytes, std::uint64_t panel_bytes);
  void write_table(const Flight& flight);

  Segment segment_;
  std::uint32_t rank_ = 0;
  HandOverDelays delays_;
  std::map<std::uint32_t, Flight> flights_;  // by panel id
};

}  // namespace tidemark
