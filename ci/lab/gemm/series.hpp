// Launches in a row, as the host puts them on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

#include "ci/lab/gemm/product.hpp"
#include "kernels/cuda/gemm/engine/configuration.hpp"

namespace tidemark {

/// What takes turns: starts one product on the product's stream.
using Launch = std::function<void()>;

/// The copies of `product` in turn. Throws Error as prepare_engine() does, and where a tensor map
/// is refused.
Launch launch_of(const Product& product, const EngineConfiguration& configuration);

/// The same on the stream of `timed`, with its words: for a product that is timed beside another.
Launch launch_beside(const Product& timed, const Product& product,
                     const EngineConfiguration& configuration);

/// Launches of one kernel. What takes less of the GPU than a host may need to launch it is recorded
/// once, many launches in a graph, which the host starts in one call: else it would be the host
/// that is timed. cuBLASLt's product of 1024 takes 6 us, its launch up to 7.
class Series {
 public:
  /// `launch_ns` is about what one takes; it must have run before, for a kernel's first launch also
  /// loads it.
  Series(const Product& product, Launch launch, double launch_ns);

  /// That start() puts on the stream.
  int launches() const { return recorded_; }
  void start() const;

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
  };

  Launch launch_;
  cudaStream_t stream_ = nullptr;
  int recorded_ = 1;
  std::unique_ptr<CUgraphExec_st, Destroy> graph_;
};

}  // namespace tidemark
