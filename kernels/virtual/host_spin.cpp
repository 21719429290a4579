// Spins on the host's clock.
#include "kernels/virtual/host_spin.hpp"

#include <fmt/core.h>

#include <chrono>

namespace tidemark::kernels {

void spin_on_host(double ns) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double, std::nano>(ns);
  while (Clock::now() < until) {
  }
}

std::string host_spin_note(double ns) {
  return fmt::format("slowed on purpose: the host spins {:.1f} us more in each sample", ns / 1000);
}

}  // namespace tidemark::kernels
