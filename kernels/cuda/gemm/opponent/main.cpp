// gemm_opponent [M N K]...: the ladder's top rung against the best of cuBLASLt's first 16
// heuristics, one after the other in one process, so that heat and clocks meet both alike. A
// program of its own: tidemark does not need cuBLASLt. Prints one line of JSON a shape.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/gemm/opponent/cublaslt.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr int kLaunches = 20;  // of one sample
constexpr int kPairs = 9;
constexpr double kVoidAbove = 0.02;  // the opponent against its own second run

void compare(const Shape& shape) {
  const Product product = make_product(shape);
  const Opponent opponent(product);
  const ReadyRung rung = prepare_rung(GemmRung::tma_store, product.local);
  if (rung.code != CUDA_SUCCESS) throw Error("the tensor maps of the top rung were refused");
  const auto ours = [&] {
    launch_rung(rung, product.timed_out.as<std::uint32_t>(), product.stream.get());
  };
  std::vector<double> tried;  // hot: the choice is made in the state that is then measured
  for (int i = 0; i < opponent.algorithms(); ++i) {
    const auto launch = [&] { opponent.launch(i); };
    (void)time_of(product, kLaunches, launch);
    tried.push_back(time_of(product, kLaunches, launch));
  }
  const auto best = static_cast<int>(std::min_element(tried.begin(), tried.end()) - tried.begin());
  const auto theirs = [&] { opponent.launch(best); };
  std::vector<double> our_ns, their_ns, again_ns, ratios;
  (void)time_of(product, kLaunches, ours);
  for (int pair = 0; pair < kPairs; ++pair) {
    their_ns.push_back(time_of(product, kLaunches, theirs));
    our_ns.push_back(time_of(product, kLaunches, ours));
    again_ns.push_back(time_of(product, kLaunches, theirs));
    ratios.push_back((their_ns.back() + again_ns.back()) / 2 / our_ns.back());
  }
  if (take_timed_out(product) != 0)
    throw Error("a wait inside the top rung ended by its bound: no figure");
  const double operations = operations_of(shape) * 1e-3;
  const double drift = std::abs(median(again_ns) / median(their_ns) - 1);
  fmt::print(
      "{{\"m\": {}, \"n\": {}, \"k\": {}, \"tma_store\": {:.1f}, \"cublaslt_best\": {:.1f}, "
      "\"cublaslt_first\": {:.1f}, \"ratio\": {:.4f}, \"heuristics\": {}, \"best\": {}, "
      "\"drift\": {:.4f}, \"void\": {}}}\n",
      shape.m, shape.n, shape.k, operations / median(our_ns), operations / median(their_ns),
      operations / tried.front(), median(ratios), opponent.algorithms(), best, drift,
      drift > kVoidAbove);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  using tidemark::Shape;
  try {
    std::vector<Shape> shapes;
    if (argc % 3 != 1) throw tidemark::Error("sizes come in threes: gemm_opponent [M N K]...");
    for (int i = 1; i < argc; i += 3)
      shapes.push_back({tidemark::size_of(argv[i]), tidemark::size_of(argv[i + 1]),
                        tidemark::size_of(argv[i + 2])});
    if (shapes.empty())
      shapes = {{2048, 2048, 2048}, {4096, 4096, 4096},    {6144, 6144, 6144},
                {8192, 8192, 8192}, {16384, 16384, 16384}, {8191, 8185, 8184}};
    for (const Shape& shape : shapes) tidemark::compare(shape);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_opponent: {}\n", error.what());
    return 2;
  }
  return 0;
}
