// The host's side of a gather: who sends what, start panels, wait for all their shards, give up in
// time, and small panels of one row a rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

// Who sends which bytes of a panel to whom. Pure arithmetic: no CUDA, no NCCL.

/// One message of a panel, as one rank sees it.
struct Transfer {
  bool send = false;  // else receive
  std::uint32_t peer = 0;
  std::uint64_t offset = 0;  // bytes from the panel's base
  std::uint64_t bytes = 0;   // never 0
  std::size_t shard = 0;     // index in the panel

  bool operator==(const Transfer&) const = default;
};

/// The ranks that take part: the owners of its shards, those of empty shards included.
std::set<std::uint32_t> members_of(const PanelBuffer& panel);

/// Throws Error where `rank` is no member, or a member none of the `ranks`.
void require_members(const PanelBuffer& panel, std::uint32_t rank, std::uint32_t ranks);

/// All messages of `rank`. Between any two ranks the messages of one direction stand in the same
/// order on both sides, since both follow the shard list. Empty for ranks that are no members.
std::vector<Transfer> transfers_of(const PanelBuffer& panel, std::uint32_t rank);

/// Of each shard how many shards with rows its owner has before it in the list. In each step every
/// owner has a shard to send, so that steps that follow each other keep all links busy; equal on
/// all ranks.
std::vector<std::uint32_t> steps_of(const PanelBuffer& panel);

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

// A few bytes of every rank for every rank, over whatever transport there is.

/// Gathers as many bytes of each rank as `mine` has, as panel `id`, which `name` says in words,
/// into `all`, in order of ranks. Every rank calls it with as many. Returns nothing then, or which
/// rank's did not come within `seconds`; the transport was aborted then. Throws Error where the
/// transport or the GPU fails.
std::string gather_rows(Transport& transport, std::uint32_t id, const char* name,
                        std::uint32_t rank, std::uint32_t ranks, const std::vector<std::byte>& mine,
                        double seconds, std::vector<std::byte>& all);

/// The same of plain structs, about how panels can travel. A rank that does not come is an Error.
template <class Row>
std::vector<Row> rows_of_all(Transport& transport, std::uint32_t id, std::uint32_t rank,
                             std::uint32_t ranks, const Row& mine, double seconds) {
  std::vector<std::byte> row(sizeof(Row));
  std::memcpy(row.data(), &mine, sizeof(Row));
  std::vector<std::byte> all;
  const std::string late =
      gather_rows(transport, id, "what ranks can do", rank, ranks, row, seconds, all);
  if (!late.empty()) throw Error("find out how panels can travel: " + late);
  std::vector<Row> rows(ranks);
  std::memcpy(rows.data(), all.data(), all.size());
  return rows;
}

/// Why the first rank that has a reason `mine` cannot do `what`, "rank 1 cannot read: no link", the
/// same on all ranks; nothing where all can. Throws Error as rows_of_all().
std::string first_reason(Transport& transport, std::uint32_t id, std::uint32_t rank,
                         std::uint32_t ranks, const char* what, const std::string& mine,
                         double seconds);

}  // namespace tidemark
