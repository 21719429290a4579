// The race: rounds of all that are left in it.
#include "ci/lab/gemm/race.hpp"

#include <algorithm>
#include <memory>

#include "kernels/error.hpp"

namespace tidemark::kernels {

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

std::vector<std::size_t> race(const Product& product, const Launch& theirs, double their_ns,
                              int rounds, std::vector<Runner>& runners) {
  std::vector<std::size_t> timed_out;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      Runner& runner = runners[(i + static_cast<std::size_t>(round) * 7) % runners.size()];
      const Launch ours = launch_of(product, runner.ready.configuration);
      const Series of_theirs(product, theirs, their_ns);
      const Series of_ours(product, ours, their_ns);
      const double before_ns = sample_of(product, of_theirs, their_ns, kRaceSampleNs);
      runner.ratios.push_back(before_ns / sample_of(product, of_ours, their_ns, kRaceSampleNs));
      // Left standing it would make every launch after it give up at once, whoever's it is.
      if (take_timed_out(product) != 0) timed_out.push_back(runner.index);
    }
    std::erase_if(runners, [&](const Runner& runner) {
      return std::find(timed_out.begin(), timed_out.end(), runner.index) != timed_out.end();
    });
  }
  return timed_out;
}

void keep_finalists(int finalists, std::vector<Runner>& runners,
                    const std::function<bool(const Runner&)>& stays) {
  std::stable_sort(runners.begin(), runners.end(), [](const Runner& left, const Runner& right) {
    return median(left.ratios) > median(right.ratios);
  });
  for (std::size_t i = runners.size(); i-- > static_cast<std::size_t>(finalists);)
    if (!stays(runners[i])) runners.erase(runners.begin() + static_cast<std::ptrdiff_t>(i));
}

}  // namespace tidemark::kernels
