// The loop of a GEMM: stages of shared memory that are loaded, consumed and loaded again, each with
// one mbarrier that its bytes complete and one that its consumers do.
#pragma once

#include <cstdint>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// k-block b lies at element b * box[0] of dimension 0. Each CTA loads box[1] rows of it, the first
/// CTA the first ones, and multicasts them to all. A stage is loaded when all consumers of all CTAs
/// have released it; the window is handed out before the CTA's last consumer does. CTA c has c
/// consumers more than the first: were they as many, arrivals that stay in their own CTA would
/// count like those of the others.
struct StageRing {
  TensorMapSpec map;            // of rank 2
  std::uint32_t stages = 1;     // 1..kProgramBarriers / 2
  std::uint32_t blocks = 1;     // k-blocks
  std::uint32_t consumers = 1;  // threads of the first CTA; 1..kProgramThreads - ctas + 1
  std::uint32_t ctas = 1;       // of the cluster, at most kProgramCtas
};

Program program_of(const StageRing& ring);

}  // namespace tidemark
