// The transport of the virtual device, worker side: panels go through a segment that the supervisor
// empties and fills.
#pragma once

#include <map>
#include <vector>

#include "harness/base/hand_over.hpp"
#include "harness/relay/segment.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

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
