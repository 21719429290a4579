// Gathers with a bound, and the messages that they are made of.
#include "kernels/cuda/transport/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/error.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

// Every member sends each of its shards to every other member.

std::set<std::uint32_t> members_of(const PanelBuffer& panel) {
  std::set<std::uint32_t> members;
  for (const Shard& shard : panel.shards) members.insert(shard.owner);
  return members;
}

void require_members(const PanelBuffer& panel, std::uint32_t rank, std::uint32_t ranks) {
  const std::set<std::uint32_t> members = members_of(panel);
  if (members.count(rank) == 0)
    throw Error(
        fmt::format("panel {}: rank {} owns no shard of it and may not start it", panel.id, rank));
  if (*members.rbegin() >= ranks)
    throw Error(fmt::format("panel {}: a shard belongs to rank {}, but there are {} ranks",
                            panel.id, *members.rbegin(), ranks));
}

std::vector<Transfer> transfers_of(const PanelBuffer& panel, std::uint32_t rank) {
  const std::set<std::uint32_t> members = members_of(panel);
  if (members.count(rank) == 0) return {};
  std::vector<Transfer> transfers;
  for (std::size_t index = 0; index < panel.shards.size(); ++index) {
    const Shard& shard = panel.shards[index];
    const std::uint64_t offset = shard.first_row * panel.row_bytes;
    const std::uint64_t bytes = shard.rows * panel.row_bytes;
    if (bytes == 0) continue;
    if (shard.owner != rank) {
      transfers.push_back(
          {.send = false, .peer = shard.owner, .offset = offset, .bytes = bytes, .shard = index});
      continue;
    }
    for (const std::uint32_t member : members)
      if (member != rank)
        transfers.push_back(
            {.send = true, .peer = member, .offset = offset, .bytes = bytes, .shard = index});
  }
  return transfers;
}

std::vector<std::uint32_t> steps_of(const PanelBuffer& panel) {
  std::map<std::uint32_t, std::uint32_t> before;  // by owner
  std::vector<std::uint32_t> steps;
  for (const Shard& shard : panel.shards)
    steps.push_back(shard.rows == 0 ? 0 : before[shard.owner]++);
  return steps;
}

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

// Panels lie in device memory, so the bytes go there and come back.

std::string gather_rows(Transport& transport, std::uint32_t id, const char* name,
                        std::uint32_t rank, std::uint32_t ranks, const std::vector<std::byte>& mine,
                        double seconds, std::vector<std::byte>& all) {
  const std::size_t bytes = mine.size();
  const DeviceBuffer rows(bytes * ranks);
  // Small copies from pageable memory may return before the DMA has ended: the others may read
  // then.
  cuda_check(cudaMemcpy(rows.data() + rank * bytes, mine.data(), bytes, cudaMemcpyHostToDevice),
             "put the own row into the panel");
  cuda_check(cudaStreamSynchronize(nullptr), "put the own row into the panel");
  NamedPanel panel{{.id = id, .base = rows.data(), .row_bytes = bytes, .shards = {}}, name};
  for (std::uint32_t i = 0; i < ranks; ++i) panel.buffer.shards.push_back({i, i, 1});
  std::string late = gather_or_abort(transport, {&panel, 1}, rank, seconds);
  if (!late.empty()) return late;
  all.resize(bytes * ranks);
  cuda_check(cudaMemcpy(all.data(), rows.data(), all.size(), cudaMemcpyDeviceToHost),
             "read the rows of all ranks");
  return {};
}

std::string first_reason(Transport& transport, std::uint32_t id, std::uint32_t rank,
                         std::uint32_t ranks, const char* what, const std::string& mine,
                         double seconds) {
  std::array<char, 200> reason{};
  mine.copy(reason.data(), reason.size() - 1);
  const auto reasons = rows_of_all(transport, id, rank, ranks, reason, seconds);
  for (std::uint32_t other = 0; other < ranks; ++other)
    if (reasons[other][0] != '\0')
      return fmt::format("rank {} {}: {}", other, what, reasons[other].data());
  return {};
}

}  // namespace tidemark
