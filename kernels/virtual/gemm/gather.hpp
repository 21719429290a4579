// Bounded waits for the shards that other ranks own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/late_shards.hpp"
#include "kernels/transport.hpp"

namespace tidemark::kernels {

/// Between two rounds of questions to a transport.
inline constexpr auto kPollEvery = std::chrono::microseconds(50);

/// Aborts the transport on the way out unless told that everything arrived: after a time-out the
/// panels are freed, and a peer's late rows would land in freed memory.
class GatherInFlight {
 public:
  explicit GatherInFlight(Transport& transport) : transport_(&transport) {}
  GatherInFlight(const GatherInFlight&) = delete;
  GatherInFlight& operator=(const GatherInFlight&) = delete;
  ~GatherInFlight() {
    if (transport_ != nullptr) transport_->abort();
  }
  void arrived() { transport_ = nullptr; }

 private:
  Transport* transport_;
};

AwaitedShard awaited_shard(const PanelBuffer& panel, std::size_t index);

/// Gathers `panels` and waits until every shard of them is ready, at most `seconds`. Returns what
/// did not come in time, as `rank` says it in late_shards(), or nothing. When it does not return
/// nothing, or throws, the transport was aborted, so that nobody writes to the panels any more.
std::string gather(Transport& transport, std::span<const PanelBuffer> panels, std::uint32_t rank,
                   double seconds);

}  // namespace tidemark::kernels
