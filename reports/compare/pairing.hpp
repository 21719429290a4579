// Which case and GPU of one launch is which of another: cases by name, GPUs by UUID.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/compare/launch_facts.hpp"

namespace tidemark {

/// What makes two GPUs of different reports the same one. `number_of_series`: their number, where
/// one command made all reports.
enum class PairBy { uuid, number, number_of_series };

/// A GPU of any launch.
struct PairedGpu {
  std::string key;                    // UUID, or "GPU 3" where paired by number
  std::string node = {};              // hostname in the newest launch that has it
  std::uint32_t number = 0;           // gpu_id there
  double at_unix_s = 0;               // when that began
  std::uint32_t base = 0, fresh = 0;  // launches that have it
  std::string pci = {};               // its PCI address there
  // Though some GPU is on both sides, this one is not: it is new, or the one now at its address is.
  bool left_out = false;
};

/// The launches of both sides, those of the base first, and the union of what they hold.
struct Pairing {
  std::vector<const LaunchFacts*> launches;
  std::size_t base = 0;            // launches of the base side
  std::vector<std::string> cases;  // sorted
  std::vector<PairedGpu> gpus;     // sorted by node and number
  // By launch: the row there of each case and GPU above; kNoRow where it has none.
  std::vector<std::vector<std::uint32_t>> case_rows, gpu_rows;
  std::size_t nameless_gpus = 0;  // most of one launch without a UUID, which nothing pairs

  std::size_t fresh() const { return launches.size() - base; }
  /// On every side that there is.
  bool is_paired(std::size_t gpu) const {
    return (base == 0 || gpus[gpu].base > 0) && (fresh() == 0 || gpus[gpu].fresh > 0);
  }
};

/// `asked`, but for anonymised reports of one series: their UUIDs are hashed anew in each report,
/// and the numbers of one command are the same GPUs.
PairBy pairing_of(const std::vector<LaunchFacts>& base, const std::vector<LaunchFacts>& fresh,
                  PairBy asked);

/// GPUs whose rank never reported have no UUID and pair with nothing.
Pairing pair_up(const std::vector<LaunchFacts>& base, const std::vector<LaunchFacts>& fresh,
                PairBy by);

/// 1 where the new side ran behind the base, -1 where it ran before it, 0 where their launches are
/// among each other.
int order_of(const Pairing& pairing);

/// `gpus`: ascending indices into the pairing. More than a few nodes are counted, not named.
std::string place_of(const Pairing& pairing, const std::vector<std::uint32_t>& gpus);

}  // namespace tidemark
