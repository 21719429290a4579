// The panels of a product on the virtual device: gathered from other ranks, before the product or
// beside it, kept, and read.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

// Bounded waits for the shards that other ranks own.

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

// The panels that the virtual matrix multiplication reads: made from the generator, completed by
// the transport.

/// Panel ids of the gathers of one Gemm.
inline constexpr std::uint32_t kPanelA = 0;
inline constexpr std::uint32_t kPanelB = 1;
inline constexpr std::uint32_t kPanelEverybody = 2;
inline constexpr std::uint32_t kPanelTimes = 5;  // 3 and 4 are those of a PeerTile
inline constexpr std::uint32_t kPanelDigests = 6;

/// One operand as bits of its type, those of fp8 in the low byte of each: `rows` rows of k
/// elements, or k rows of `rows` where it is MN-major. What no shard has filled in is 0xffff, a
/// NaN, and so is the padding behind the rows of an operand that is_plain() excludes; behind others
/// it is zero.
struct GemmPanel {
  std::uint64_t rows = 0;
  std::uint64_t k = 0;
  std::uint64_t pitch = 0;  // elements from row to row of memory
  std::vector<std::uint16_t> elements;
  std::vector<Shard> shards;           // without a transport one shard, the whole panel
  std::vector<std::uint32_t> arrived;  // a word for each: PanelBuffer::arrived
  Major major = Major::k;
  GemmElement element = GemmElement::bf16;
  bool plain = true;

  /// Where element (row, k) is kept if rows are `apart` elements apart.
  std::uint64_t index_of(std::uint64_t row, std::uint64_t at_k, std::uint64_t apart) const {
    return major == Major::k ? row * apart + at_k : at_k * apart + row;
  }
};

/// Makes the rows of one operand that this rank owns; all of them without a transport.
/// Throws Error when a shard reaches outside the panel.
GemmPanel make_gemm_panel(const Gemm& gemm, GemmOperand operand);

/// Makes the shards of other ranks NaN again, as make_gemm_panel() left them.
void poison_foreign_shards(GemmPanel& panel, std::uint32_t rank);

/// PanelBuffer::epoch and ::last of one gather. Number 0: without words, the reader asks ready().
struct GatherEpoch {
  std::uint32_t number = 0;
  bool last = false;
};

PanelBuffer buffer_of(GemmPanel& panel, std::uint32_t id, const GatherEpoch& epoch);

// How the virtual matrix multiplication reads its panels: a tile's rows of one block of k, through
// the fault.

inline constexpr std::uint64_t kGemmTile = 64;   // rows and columns of C
inline constexpr std::uint64_t kGemmDepth = 64;  // k of a block

/// Elements of one operand as fp32: a row for each row or column of the tile, along k.
using GemmTileRows = std::array<std::array<float, kGemmDepth>, kGemmTile>;

/// What reads a panel, and what is wrong with it.
struct GemmReader {
  const GemmPanel& panel;
  GemmOperand operand;
  Fault fault;
};

/// The rows from `first` on, `depth` elements of each from `k` on; those outside the panel are
/// zeros, but for kFaultGemmPadding.
void read_rows(const GemmReader& reader, std::uint64_t first, std::uint64_t k, std::uint64_t depth,
               GemmTileRows& to);

// Both panels on their way, beside the product that reads them.

/// Where in C a tile begins: it reads rows of A from `row` on and rows of B from `col` on.
struct GemmTileStart {
  std::uint64_t row = 0, col = 0;
};

/// A gather of both panels in one epoch. The product asks it for tiles, so that all waits for
/// shards, and all questions to the transport, are here.
class GemmArrivals {
 public:
  /// Starts both gathers. `gemm`, `a` and `b` stay where they are as long as this lives. Throws
  /// Error when the transport does.
  GemmArrivals(const Gemm& gemm, GemmPanel& a, GemmPanel& b, const GatherEpoch& epoch, Fault fault);

  /// The first of `tiles` all of whose rows are there, by index. Where there is none, waits for
  /// one, at most Gemm::deadline_s. Nothing after a time-out: late() then says late_shards(), first
  /// the one that the first of the tiles lacks.
  std::optional<std::size_t> next(std::span<const GemmTileStart> tiles);

  /// Waits until all shards of other ranks are there; false after a time-out, as in next().
  bool wait_for_all();

  /// Waits until the transport needs the panels no more; false after a time-out, as in next(). When
  /// this object goes before that, it aborts the transport, so that nobody writes to the panels.
  bool finish();

  const std::string& late() const { return late_; }
  double wait_ns() const { return wait_ns_; }  // of all waits so far
  /// When the last shard of another rank was seen to be there; the start where there is none.
  std::chrono::steady_clock::time_point complete() const { return complete_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Part {
    std::size_t panel = 0, shard = 0;  // panel 0 is A, 1 is B
    friend bool operator==(const Part&, const Part&) = default;
  };

  bool has_arrived(const Part& part) const;
  std::optional<Part> lacking(const GemmTileStart& tile) const;
  bool is_ready(const Part& part);
  void ask();
  void name_late(const Part& first);
  template <typename Missing>  // says what is waited for still, or nothing
  bool wait(const Missing& missing);

  Transport& transport_;
  GatherInFlight in_flight_;
  std::array<PanelBuffer, 2> panels_;
  std::uint32_t rank_;
  double deadline_s_;
  Fault fault_;
  std::vector<Part> awaited_;  // that the transport did not call ready yet
  std::vector<Part> own_;      // the same of this rank's shards; nobody waits for them but finish()
  std::optional<Part> early_;  // of kFaultGemmFlagEarly: asked for when the product is over
  Clock::time_point complete_;
  double wait_ns_ = 0;
  std::string late_;
};

/// What kFaultGemmFlagEarly and kFaultGemmFlagOfLastEpoch do where no transport brings shards and
/// the device plays the other ranks: bytes that would come later are poison when they are read.
void leave_out_late_bytes(GemmPanel& a, GemmPanel& b, Fault fault);

}  // namespace tidemark
