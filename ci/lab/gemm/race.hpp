// Configurations of the engine in turn beside one launch that all are held against.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "ci/lab/gemm/duel.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark::kernels {

inline constexpr double kRaceSampleNs = 8e6;
inline constexpr const char* kTimedOutInRace = "a wait ended by its bound while it was timed";

/// A configuration that is still in the race.
struct Runner {
  std::size_t index = 0;  // among those that are tried
  ReadyEngine ready;
  std::vector<double> ratios;  // of times, theirs over its own, a round each
};

/// The copies of `product` in turn. Throws Error as prepare_engine() does, and where a tensor map
/// is refused.
Launch launch_of(const Product& product, const EngineConfiguration& configuration);

/// The same on the stream of `timed`, with its words: for a product that is timed beside another.
Launch launch_beside(const Product& timed, const Product& product,
                     const EngineConfiguration& configuration);

/// Rounds of all runners, beginning with another one each time. Each follows a sample of `theirs`,
/// which takes `their_ns` a launch, so that none gains by a slow neighbour that let the chip rest.
/// Takes out those whose waits ended by their bound, and returns their indexes.
std::vector<std::size_t> race(const Product& product, const Launch& theirs, double their_ns,
                              int rounds, std::vector<Runner>& runners);

/// Leaves the fastest of the race, in their order, and those that are to stay whatever they did.
void keep_finalists(int finalists, std::vector<Runner>& runners,
                    const std::function<bool(const Runner&)>& stays);

}  // namespace tidemark::kernels
