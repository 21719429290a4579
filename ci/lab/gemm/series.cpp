// Launches of all copies in turn, recorded where they are short.
#include "ci/lab/gemm/series.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr double kShortNs = 20e3;
constexpr std::uint64_t kLeastRecorded = 50;

/// All copies as often, so that they stay in turn from one start to the next; an even number, since
/// EngineWords are taken in turn, too.
constexpr int recorded(std::uint64_t copies) {
  const std::uint64_t rounds = (kLeastRecorded + copies - 1) / copies;
  return static_cast<int>(copies * (rounds + copies % 2 * (rounds % 2)));
}
static_assert(recorded(1) == 50 && recorded(30) == 60);
static_assert(recorded(3) == 54 && recorded(49) == 98);  // 51 and 49 were enough, but are odd

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};

}  // namespace

Launch launch_of(const Product& product, const EngineConfiguration& configuration) {
  return launch_beside(product, product, configuration);
}

Launch launch_beside(const Product& timed, const Product& product,
                     const EngineConfiguration& configuration) {
  struct Turns {
    std::vector<ReadyEngine> copies;
    std::size_t next = 0;
  };
  const auto turns = std::make_shared<Turns>();
  for (std::uint64_t i = 0; i < product.copies; ++i)
    if (turns->copies.emplace_back(prepare_engine(configuration, product.copy(i))).code !=
        CUDA_SUCCESS)
      throw Error("a tensor map was refused");
  return [&timed, turns] {
    start_engine(turns->copies[turns->next], timed.words, timed.stream.get());
    turns->next = (turns->next + 1) % turns->copies.size();
  };
}

Series::Series(const Product& product, Launch launch, double launch_ns)
    : launch_(std::move(launch)), stream_(product.stream.get()) {
  if (launch_ns >= kShortNs) return;
  recorded_ = recorded(product.copies);
  cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
             "begin to record launches");
  std::unique_ptr<CUgraph_st, DestroyGraph> graph_of_them;
  cudaGraph_t graph = nullptr;
  try {
    for (int i = 0; i < recorded_; ++i) launch_();
  } catch (...) {
    cudaStreamEndCapture(stream_, &graph);  // else every later call on the stream is refused
    graph_of_them.reset(graph);
    cudaGetLastError();  // of what ended the recording: else a later call would be blamed for it
    throw;
  }
  cuda_check(cudaStreamEndCapture(stream_, &graph), "record launches");
  graph_of_them.reset(graph);
  cudaGraphExec_t ready = nullptr;
  cuda_check(cudaGraphInstantiate(&ready, graph, 0), "make a graph of launches");
  graph_.reset(ready);
  // Else the first start would do it, while it is timed.
  cuda_check(cudaGraphUpload(ready, stream_), "bring a graph of launches to the GPU");
}

void Series::start() const {
  if (graph_ == nullptr)
    launch_();
  else
    cuda_check(cudaGraphLaunch(graph_.get(), stream_), "start recorded launches");
}

}  // namespace tidemark
