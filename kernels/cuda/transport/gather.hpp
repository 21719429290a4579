// The host's side of a gather: start panels, wait for all their shards, give up in time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// A panel and what to call it when it does not come: "panel A".
struct NamedPanel {
  PanelBuffer buffer;
  const char* name = "";
};

/// Throws Error unless every row of a panel of `rows` rows lies in exactly one shard.
void require_cover(const std::vector<Shard>& shards, std::uint64_t rows, const char* name);

/// Called before a gather that is given up aborts its transport, which waits for the GPU. May not
/// throw.
using BeforeAbort = std::function<void()>;

/// Panels on their way to `rank`. Panels are freed when their multiplication ends, so a gather that
/// is given up has to take the transport with it: a late row would land in somebody else's memory.
class Gather {
 public:
  /// Starts to gather `panels` in order.
  Gather(Transport& transport, std::span<const NamedPanel> panels, std::uint32_t rank,
         BeforeAbort before_abort = {});
  /// Aborts the transport unless wait() has seen every shard.
  ~Gather();
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  /// Lets the transport move what has been started, without a wait.
  void set_off();
  /// What was started waits for PanelBuffer::begin no more: seconds count from here.
  void count_from_now();
  /// Waits until every shard is ready. Returns nothing then, or, as late_shards(), which were not
  /// after `seconds` from the start.
  std::string wait(double seconds);
  /// The same for those of other ranks.
  std::string wait_for_others(double seconds);

 private:
  struct Awaited {
    NamedPanel panel;
    std::size_t shard;
  };
  template <class Wanted>
  std::string wait_for(double seconds, Wanted wanted);
  std::string missing(double seconds) const;
  void give_up() noexcept;

  Transport& transport_;
  BeforeAbort before_abort_;
  std::uint32_t rank_;
  std::chrono::steady_clock::time_point began_;
  std::vector<Awaited> awaited_;
};

/// Starts to gather `panels` in order and waits until every shard of each is ready. Returns nothing
/// then, or which shards were not ready after `seconds`, as `rank` says it. After that, and where
/// it throws, the transport was aborted: nobody writes to the panels any more.
std::string gather_or_abort(Transport& transport, std::span<const NamedPanel> panels,
                            std::uint32_t rank, double seconds, BeforeAbort before_abort = {});

}  // namespace tidemark
