// What host and kernel of programs tell each other, and the launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// Tensor maps that one launch takes as a kernel parameter, of all its programs together. With
/// them the parameters stay below the 32,764 bytes that a kernel may have (CUDA C++ Programming
/// Guide, "Function Parameters"; sm_70 and later).
inline constexpr std::uint32_t kLaunchMaps = 224;

struct LaunchMaps {
  std::array<CUtensorMap, kLaunchMaps> maps;
  std::array<std::uint8_t, kLaunchMaps> ranks;   // rank_and_kind() of each
  std::array<std::uint8_t, kLaunchMaps> places;  // place_of_map() of each, in its program
};

/// The rank of a map, 0 of a bulk one, which is not encoded; with kIm2colKind of an im2col map.
inline constexpr std::uint8_t kIm2colKind = 8;
constexpr std::uint8_t rank_and_kind(const TensorMapSpec& map) {
  if (map.bulk) return 0;
  return static_cast<std::uint8_t>(map.rank | (map.im2col ? kIm2colKind : 0U));
}

/// What a CTA leaves when it has come to the end of its program; zero before.
struct CtaEnd {
  std::uint32_t launch = 0;      // number of the launch
  std::uint32_t sm = 0;          // %smid
  std::uint32_t stopped_at = 0;  // the step that stopped it; kNotStopped
};
inline constexpr std::uint32_t kNotStopped = 0xffffffffU;

/// One program of a launch. The pointers are device memory.
struct ProgramTask {
  const Step* steps = nullptr;
  const Map* specs = nullptr;  // of its maps
  const Wgmma* products = nullptr;
  // By place_of_map(). 128-byte aligned, as tensormap.replace takes them.
  CUtensorMap* maps = nullptr;
  std::uint32_t step_count = 0;
  std::uint32_t window = 0;     // bytes, a multiple of 16
  std::uint32_t first_map = 0;  // in LaunchMaps
  Payload payload;
  std::uint64_t* trace = nullptr;     // step_count x CTAs
  std::uint8_t* snapshots = nullptr;  // window bytes each; aligned to 16
  const std::uint8_t* const* regions = nullptr;
  CtaEnd* ends = nullptr;  // one a CTA
};

/// The largest window that fits the shared memory of a CTA on the current device. Prepares the
/// kernel for it, and for clusters of 16: to be called once before the first launch.
std::uint32_t prepare_programs();

/// What programs of one launch have in common.
struct ProgramGrid {
  std::uint32_t programs = 0;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // that runs each
  std::uint32_t window = 0;                       // bytes; no program has a larger one
  std::uint32_t launch = 0;                       // a number that no earlier launch had, and not 0
};

/// The kernel that launch_programs() launches.
const void* program_kernel();

/// Runs `grid.programs` programs. False where the current device cannot start such a cluster, and
/// nothing ran.
bool launch_programs(const LaunchMaps& maps, const ProgramTask* tasks, const ProgramGrid& grid,
                     cudaStream_t stream);

// Fills global memory as the regions of programs are filled.

/// Memory on the device, and what it is to hold; see Region.
struct RegionTask {
  std::uint8_t* memory = nullptr;
  std::uint64_t bytes = 0;  // a multiple of 16
  std::uint64_t first = 0;  // of these, as bytes of the region
  DataType element = DataType::u8;
  Numbers numbers = Numbers::hash;
  bool poison = false;
  Payload payload;
};

/// Fills one region.
void launch_fill_region(const RegionTask& task, cudaStream_t stream);

/// Fills `count` regions, whose tasks are device memory.
void launch_fill_regions(const RegionTask* tasks, std::uint32_t count, cudaStream_t stream);

}  // namespace tidemark
