// Waits for a worker that tries configurations, and says how it ended.
#include "harness/tuning/tuner.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <array>
#include <optional>

#include "harness/supervisor/clock.hpp"

namespace tidemark::harness {

Tuner::Tuner(const WorkerStart& start, const SetupOrder& setup, const TunerBounds& bounds)
    : worker_(start), bounds_(bounds) {
  worker_.send(setup);
}

Tuned Tuner::tune(const GemmShape& product, double seconds) {
  worker_.send(TuneOrder{.product = product, .seconds = seconds});
  const double patience = seconds > 0 ? seconds + bounds_.grace : bounds_.unlimited;
  const double until = monotonic_s() + patience + (ready_ ? 0 : bounds_.ready);
  while (true) {
    const bool gone = worker_.ended().has_value();
    worker_.pump();
    while (std::optional<Said> said = worker_.take()) {
      if (std::holds_alternative<SaidReady>(*said)) ready_ = true;
      if (auto* tuned = std::get_if<SaidTuned>(&*said))
        return {.kind = Tuned::Kind::tried, .product = std::move(tuned->tried)};
      if (const auto* trouble = std::get_if<SaidTrouble>(&*said))
        return {.kind = Tuned::Kind::refused, .reason = trouble->text};
    }
    if (gone) {
      const ProcessEnd end = *worker_.ended();
      const bool crashed = end.signal != 0 && !end.killed_from_outside();
      return {.kind = crashed ? Tuned::Kind::lost : Tuned::Kind::unusable,
              .reason = "its worker " + worker_.end_text()};
    }
    if (monotonic_s() > until || worker_.broken()) {
      worker_.signal_group(SIGKILL);
      return {.kind = Tuned::Kind::lost,
              .reason = worker_.broken()
                            ? "its worker wrote a line that is no message"
                            : fmt::format("its worker was silent for {:.0f} s", patience)};
    }
    std::array<pollfd, 2> fds = {{{.fd = worker_.records_fd(), .events = POLLIN, .revents = 0},
                                  {.fd = worker_.errors_fd(), .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), 100);
  }
}

}  // namespace tidemark::harness
