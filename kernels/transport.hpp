// How a device gets the parts of a panel that other ranks own, and which of them are late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// How a device gets the parts of a panel that other ranks own.

/// How panels travel. No route changes a bit of a product.
enum class PanelRoute : std::uint8_t {
  nccl,  // sends and receives on SMs, all panels in one group; the reader waits for all of it
  nccl_overlap,  // the same shard by shard, on SMs that the product beside it leaves free
  copy_engine,   // copy engines read the memory of other GPUs of the host, beside the product
  relay,         // through the hosts, by MPI: the virtual device's
};
inline constexpr PanelRoute kPanelRoutes[] = {PanelRoute::nccl, PanelRoute::nccl_overlap,
                                              PanelRoute::copy_engine, PanelRoute::relay};

constexpr std::string_view name_of(PanelRoute route) {
  constexpr std::string_view kNames[] = {"nccl", "nccl_overlap", "copy_engine", "mpi"};
  return kNames[static_cast<std::size_t>(route)];
}

/// Whether a product may be launched before its panels are there and waits for `arrived` itself.
/// Not where SMs move them that the product could take for good: it would wait for a copy that has
/// none.
constexpr bool delivers_beside(PanelRoute route) { return route != PanelRoute::nccl; }

/// Whether both panels of a product are fetched at once, else B behind A: two ranks that change
/// between the same two owners at every shard meet at one of them whenever one rank is late.
constexpr bool fetches_at_once(PanelRoute route) {
  return route == PanelRoute::nccl || route == PanelRoute::nccl_overlap ||
         route == PanelRoute::relay;
}

/// SMs that move the panels of a product beside it, which leaves them alone.
constexpr std::uint32_t sms_of(PanelRoute route) {
  return route == PanelRoute::nccl_overlap ? 8 : 0;
}

/// Consecutive rows of a panel that one rank owns and the others receive.
struct Shard {
  std::uint32_t owner = 0;      // rank
  std::uint64_t first_row = 0;  // in the panel
  std::uint64_t rows = 0;       // may be 0

  bool operator==(const Shard&) const = default;
};

/// One panel in device memory (host memory on the virtual device). The shards of this rank are in
/// place when the gathering starts; the transport fills in all others. Ranks that own or receive
/// shards of the same panel hold equal shard lists.
struct PanelBuffer {
  std::uint32_t id = 0;  // equal on all ranks of the panel, unique among panels in flight
  std::byte* base = nullptr;
  std::uint64_t row_bytes = 0;  // shard s lies at base + first_row * row_bytes
  std::vector<Shard> shards;
  /// One word a shard, in memory of the device that reads the panel; null: the reader asks ready().
  /// The transport writes `epoch` into the word of a shard of another rank once the device may read
  /// all its bytes, never before. Words of this rank's own shards are the reader's.
  std::uint32_t* arrived = nullptr;
  /// 1 for the first gather into this memory, one more for each one after it: what an earlier
  /// gather left in `arrived` is no sign of this one.
  std::uint32_t epoch = 0;
  /// No gather into this memory comes after this one: once its own shards are ready, no other rank
  /// has it open any more.
  bool last = false;
  /// Null, or a word that the device can read: no other rank is told of this gather and nothing of
  /// it is moved before the word is `begin_value` or beyond, so that it can be queued ahead of its
  /// time. By copy_engine only, and not of a first gather. Who holds it writes the word before
  /// abort(), which waits for streams.
  std::uint32_t* begin = nullptr;
  std::uint32_t begin_value = 0;
  PanelRoute route = PanelRoute::nccl;  // of a panel with `arrived`; small ones go by nccl
};

/// The shards of other ranks, by index and in the order in which they are fetched: those behind
/// this rank's own first, so that no two ranks begin at the same one. Empty shards are left out.
std::vector<std::size_t> fetch_order(std::span<const Shard> shards, std::uint32_t rank);

/// Moves panels between ranks. One of the two virtual interfaces of the project.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Starts to gather `panel` and returns at once. Panels that are started before the next ready()
  /// may be moved together, and only then. The memory belongs to the transport until every
  /// shard is ready on this rank and on those that receive from it.
  /// Throws Error when the transport was aborted or a peer is known to be gone.
  virtual void start(const PanelBuffer& panel) = 0;

  /// Says whether shard `index` of the panel last started under `id` may be read by the device.
  /// True for own shards only once the others no longer need this rank's copy. Never blocks.
  virtual bool ready(std::uint32_t id, std::size_t index) = 0;

  /// Gives up everything in flight. Called from any thread, any number of times.
  virtual void abort() noexcept = 0;
};

/// ncclUniqueId as bytes: made by one rank, carried to all by the supervisors.
using NcclId = std::array<std::byte, 128>;

/// Throws Error where the program was built without NCCL or libnccl.so.2 cannot be loaded.
NcclId make_nccl_id();

/// Between the GPUs of a launch.
struct GpuTransport {
  std::unique_ptr<Transport> transport;
  std::vector<PanelRoute> routes;  // that it takes, equal on all ranks; the usual one first
  std::string why;                 // the usual one is that: "all 4 GPUs reach each other's memory"
};

/// Joins the communicator of `ranks` members on the current CUDA device and finds out, together
/// with the others, by which routes panels can travel; bounded by `seconds`. With `only`, no other
/// is taken. Throws Error as make_nccl_id(), where not all ranks come in time, and, on all ranks,
/// where the GPUs do not allow `only`.
GpuTransport make_gpu_transport(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                double seconds, std::optional<PanelRoute> only);

// What a wait for shards says that ended without them.

/// A shard that the transport did not call ready.
struct AwaitedShard {
  std::string_view panel;  // in words: "panel B"
  Shard shard;
  std::size_t index = 0;  // in the panel
};

/// In words, for `rank`, which has waited for `seconds`; `awaited` are all that are missing, at
/// least one:
///   "waits for GPU 3: panel B, shard 0 (rows 0 to 2) not ready within 20 s"
/// Of several ranks it names all, since the shards of one may stand behind those of another:
///   "waits for GPUs 1, 2: panel A, shard 8 (rows 512 to 682) and others not ready within 20 s"
/// Which rank has not read a shard of `rank` itself is not known:
///   "waits until others have read panel A, shard 1 (rows 64 to 128): not within 20 s"
std::string late_shards(std::span<const AwaitedShard> awaited, std::uint32_t rank, double seconds);

}  // namespace tidemark
