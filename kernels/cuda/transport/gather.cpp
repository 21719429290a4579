// Gathers with a bound.
#include "kernels/cuda/transport/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/transport.hpp"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

/// Timed gathers end within milliseconds and a sleep takes some 70 us; one that takes longer than
/// this leaves the core to those who bring the data.
void pause_between_polls(Clock::duration waited) {
  if (waited < std::chrono::milliseconds(50))
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace

void require_cover(const std::vector<Shard>& shards, std::uint64_t rows, const char* name) {
  std::vector<Shard> sorted = shards;
  std::sort(sorted.begin(), sorted.end(), [](const Shard& left, const Shard& right) {
    return std::pair(left.first_row, left.rows) < std::pair(right.first_row, right.rows);
  });
  std::uint64_t covered = 0;
  for (const Shard& shard : sorted) {
    if (shard.rows == 0) continue;
    if (shard.first_row != covered || shard.rows > rows - covered)
      throw Error(
          fmt::format("{}: the shard of rank {} starts at row {} and has {} rows, but rows "
                      "0 to {} of {} are those covered before it",
                      name, shard.owner, shard.first_row, shard.rows, covered, rows));
    covered += shard.rows;
  }
  if (covered != rows)
    throw Error(fmt::format("{}: the shards cover {} of {} rows", name, covered, rows));
}

Gather::Gather(Transport& transport, std::span<const NamedPanel> panels, std::uint32_t rank,
               BeforeAbort before_abort)
    : transport_(transport),
      before_abort_(std::move(before_abort)),
      rank_(rank),
      began_(Clock::now()) {
  try {
    for (const NamedPanel& panel : panels) {
      transport.start(panel.buffer);
      for (std::size_t i = 0; i < panel.buffer.shards.size(); ++i) awaited_.push_back({panel, i});
    }
  } catch (...) {
    give_up();  // nobody destroys an object whose constructor throws
    throw;
  }
}

Gather::~Gather() {
  if (!awaited_.empty()) give_up();
}

void Gather::give_up() noexcept {
  if (before_abort_) before_abort_();
  transport_.abort();
}

void Gather::set_off() {
  if (!awaited_.empty())
    static_cast<void>(transport_.ready(awaited_.front().panel.buffer.id, awaited_.front().shard));
}

void Gather::count_from_now() { began_ = Clock::now(); }

std::string Gather::missing(double seconds) const {
  std::vector<AwaitedShard> late;
  for (const Awaited& one : awaited_)
    late.push_back(
        {.panel = one.panel.name, .shard = one.panel.buffer.shards[one.shard], .index = one.shard});
  return late_shards(late, rank_, seconds);
}

template <class Wanted>
std::string Gather::wait_for(double seconds, Wanted wanted) {
  while (true) {
    std::erase_if(awaited_, [&](const Awaited& one) {
      return wanted(one) && transport_.ready(one.panel.buffer.id, one.shard);
    });
    if (std::none_of(awaited_.begin(), awaited_.end(), wanted)) return {};
    const auto waited = Clock::now() - began_;
    if (waited > std::chrono::duration<double>(seconds)) return missing(seconds);
    pause_between_polls(waited);
  }
}

std::string Gather::wait(double seconds) {
  return wait_for(seconds, [](const Awaited& /*one*/) { return true; });
}

std::string Gather::wait_for_others(double seconds) {
  return wait_for(seconds, [this](const Awaited& one) {
    return one.panel.buffer.shards[one.shard].owner != rank_;
  });
}

std::string gather_or_abort(Transport& transport, std::span<const NamedPanel> panels,
                            std::uint32_t rank, double seconds, BeforeAbort before_abort) {
  return Gather(transport, panels, rank, std::move(before_abort)).wait(seconds);
}

}  // namespace tidemark
