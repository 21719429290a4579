// Both panels on their way, beside the product that reads them.
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
#include "kernels/virtual/gemm/gemm_panels.hpp"

namespace tidemark {

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
