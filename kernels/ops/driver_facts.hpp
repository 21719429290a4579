// What the driver says of itself, of a GPU, and of code that it loaded.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tidemark {

/// One question to the driver and its answer.
struct DriverAnswer {
  std::string subject{};   // "tiled, f32, rank 3, swizzle 64"; "device attribute"; a kernel
  std::string question{};  // "a stride of 0 in dimension 2", "97", "registers"
  std::string unit{};      // "CUresult", "bytes", ...; empty: a number
  std::int64_t answer = 0;
  std::array<std::int64_t, 16> map{};  // the 128 bytes of an accepted tensor map, little endian
};

enum class DriverSubject : std::uint8_t {
  kernel,      // the machine code of kernel `number` of kNamedKernels: nvcc's, or with --jit the
               // driver's
  attributes,  // of the device, by number (cuda.h, CUdevice_attribute)
  limits,      // of the context, by number (cuda.h, CUlimit), but for the stack: launches raise it
  clusters,    // that fit on the device, by size and shared memory
  entry_points,  // functions: 1 where the driver has it
};

/// RunResult::answers has one a question. CUDA Driver API 13.0: cuDeviceGetAttribute,
/// cuCtxGetLimit; Runtime API 13.0: cudaFuncGetAttributes, cudaOccupancyMaxActiveClusters,
/// cudaGetDriverEntryPointByVersion.
struct DriverFacts {
  DriverSubject subject = DriverSubject::kernel;
  std::uint32_t number = 0;
};
/// The kernel of programs, those of stresses, and GEMMs of plain bf16 operands.
inline constexpr std::uint32_t kNamedKernels = 9;

// Questions that the suite judges; those of device attributes are the enumerators of cuda.h.
inline constexpr const char* kRegisters = "registers";
inline constexpr const char* kMostThreads = "most threads";
inline constexpr const char* kArchitecture = "architecture";
inline constexpr std::array<std::uint32_t, 4> kClusterSharedBytes = {0, 65536, 131072, 229376};
inline std::string cluster_question(std::uint32_t ctas, std::uint32_t shared_bytes) {
  return std::to_string(ctas) + " CTAs, " + std::to_string(shared_bytes) +
         " bytes of shared memory";
}

}  // namespace tidemark
