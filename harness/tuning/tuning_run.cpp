// Shares the time, and ends the run where nothing more can be believed.
#include "harness/tuning/tuning_run.hpp"

#include <fmt/format.h>

#include <utility>

namespace tidemark::harness {
namespace {

/// Adds what came of a product; sets `run.ended` where no other is to be tried behind it.
void add(TuningRun& run, DecidedProduct made, const Tuned& tuned) {
  if (tuned.kind == Tuned::Kind::tried)
    made.verdict = verdict_of(tuned.product);
  else
    made.verdict.reason = tuned.reason;
  const bool broken = made.verdict.kind == TuningVerdict::Kind::broken;
  const bool lost = tuned.kind == Tuned::Kind::lost;
  if (broken || lost || tuned.kind == Tuned::Kind::unusable) {
    run.ended = made.verdict.reason;
    run.believed = false;
    run.code = broken || lost ? ExitCode::failed : ExitCode::incomplete;
  } else if (made.verdict.kind == TuningVerdict::Kind::undecided) {
    run.code = ExitCode::incomplete;
  }
  run.decided.push_back(std::move(made));
}

}  // namespace

TuningRun tune_all(const GemmTable& present, const std::vector<GemmShape>& products,
                   double time_limit_s, const std::function<double()>& now,
                   const std::function<Tuned(const GemmShape&, double)>& try_one,
                   const std::function<void(const DecidedProduct&)>& told) {
  TuningRun run;
  const double start = now();
  for (std::size_t i = 0; i < products.size() && run.ended.empty(); ++i) {
    double seconds = 0;
    if (time_limit_s > 0) {
      const double left = time_limit_s - (now() - start);
      if (left <= 0) {
        run.ended = fmt::format("the time limit came before {} of {} products", products.size() - i,
                                products.size());
        run.code = ExitCode::incomplete;
        break;
      }
      seconds = left / static_cast<double>(products.size() - i);
    }
    DecidedProduct made{.product = products[i],
                        .present = nearest_choice(present, products[i])->configuration,
                        .verdict = {}};
    made.verdict.configuration = made.present;
    add(run, std::move(made), try_one(products[i], seconds));
    told(run.decided.back());
  }
  return run;
}

}  // namespace tidemark::harness
