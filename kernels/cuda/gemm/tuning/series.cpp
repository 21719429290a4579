// Recorded launches.
#include "kernels/cuda/gemm/tuning/series.hpp"

#include <utility>

#include "kernels/cuda/check.hpp"

namespace tidemark {
namespace {

constexpr double kShortNs = 20e3;

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};

}  // namespace

Series::Series(const Product& product, Launch launch, double launch_ns)
    : launch_(std::move(launch)), stream_(product.stream.get()) {
  if (launch_ns >= kShortNs) return;
  cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
             "begin to record launches");
  std::unique_ptr<CUgraph_st, DestroyGraph> recorded;
  cudaGraph_t graph = nullptr;
  try {
    for (int i = 0; i < kRecorded; ++i) launch_();
  } catch (...) {
    cudaStreamEndCapture(stream_, &graph);  // else every later call on the stream is refused
    recorded.reset(graph);
    throw;
  }
  cuda_check(cudaStreamEndCapture(stream_, &graph), "record launches");
  recorded.reset(graph);
  cudaGraphExec_t ready = nullptr;
  cuda_check(cudaGraphInstantiate(&ready, graph, 0), "make a graph of launches");
  graph_.reset(ready);
}

void Series::start() const {
  if (graph_ == nullptr)
    launch_();
  else
    cuda_check(cudaGraphLaunch(graph_.get(), stream_), "start recorded launches");
}

}  // namespace tidemark
