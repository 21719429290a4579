// Gives each rank its GPUs, or says in one line why it cannot.
#include "harness/discovery/assignment.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace tidemark::harness {
namespace {

constexpr std::uint32_t kNeededCapability = 90;
constexpr std::uint32_t kMostVirtual = 1024;

/// A GPU that a rank sees: its place in RankView::visible.
using Place = std::size_t;

const std::string& host_of(const RankView& rank) {
  return rank.host.empty() ? rank.machine : rank.host;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
    comma = list.find(',', begin);
    parts.push_back(list.substr(begin, comma == std::string::npos ? comma : comma - begin));
  }
  return parts;
}

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

Assignment assign_virtual(std::size_t ranks, const std::string& gpus, bool launched) {
  std::size_t count = launched ? ranks : 1;
  if (!gpus.empty()) {
    const auto given = number_of(gpus);
    if (!given || *given < 1 || *given > kMostVirtual)
      throw UsageError(
          fmt::format("--gpus '{}': for the virtual device it is how many there are, 1 to {}", gpus,
                      kMostVirtual));
    if (launched && *given < ranks)
      throw EnvironmentError(fmt::format("{} but --gpus {}: one rank drives one virtual device",
                                         counted(ranks, "rank"), *given));
    if (!launched) count = *given;
  }
  Assignment assignment{.kind = DeviceKind::virtual_device};
  assignment.gpus.assign(ranks, std::vector<GpuProperties>(launched ? 1 : count));
  return assignment;
}

bool names(const std::string& part, Place place, const GpuProperties& gpu) {
  if (const auto index = number_of(part)) return *index == place;
  if (part.empty()) return false;
  return gpu.uuid.rfind(part, 0) == 0 || gpu.uuid.rfind("GPU-" + part, 0) == 0;
}

// What --gpus names among those a rank sees, in the order named; all without --gpus.
std::vector<Place> chosen_of(const RankView& rank, const std::string& gpus) {
  std::vector<Place> chosen;
  if (gpus.empty()) {
    for (Place place = 0; place < rank.visible.size(); ++place) chosen.push_back(place);
    return chosen;
  }
  for (const std::string& part : split(gpus)) {
    std::size_t found = 0;
    for (Place place = 0; place < rank.visible.size(); ++place) {
      if (!names(part, place, rank.visible[place])) continue;
      if (++found > 1)
        throw UsageError(fmt::format("--gpus '{}' names several GPUs on host {}: write more of it",
                                     part, host_of(rank)));
      if (std::find(chosen.begin(), chosen.end(), place) != chosen.end())
        throw UsageError(
            fmt::format("--gpus '{}' names GPU {} of host {} twice", gpus, place, host_of(rank)));
      chosen.push_back(place);
    }
  }
  return chosen;
}

// A UUID stands on one machine only, so a part of --gpus must be found by any rank, not by all.
void refuse_unknown_gpus(const std::vector<RankView>& ranks, const std::string& gpus) {
  if (gpus.empty()) return;
  for (const std::string& part : split(gpus)) {
    std::size_t most = 0;
    bool found = false;
    for (const RankView& rank : ranks) {
      most = std::max(most, rank.visible.size());
      for (Place place = 0; place < rank.visible.size(); ++place)
        found = found || names(part, place, rank.visible[place]);
    }
    if (!found)
      throw UsageError(fmt::format(
          "--gpus '{}': no GPU is called that; give indexes 0 to {} or UUIDs (nvidia-smi -L)", part,
          most - 1));
  }
}

void refuse_missing(const RankView& view, std::size_t rank) {
  if (!view.visible.empty()) return;
  if (!view.nvidia_present)
    throw EnvironmentError(fmt::format(
        "rank {} on host {} has no NVIDIA device: start it on a GPU machine, or give --device "
        "virtual",
        rank, host_of(view)));
  throw EnvironmentError(fmt::format(
      "rank {} on host {} has an NVIDIA device but no usable GPU: {} (--device virtual does "
      "without)",
      rank, host_of(view), view.problem.empty() ? "nothing says why" : view.problem));
}

void refuse_unusable(const RankView& view, Place place) {
  const GpuProperties& gpu = view.visible[place];
  const std::string what = fmt::format("GPU {} ({}) of host {}", place, gpu.name, host_of(view));
  if (gpu.uuid.rfind("MIG-", 0) == 0)
    throw EnvironmentError(fmt::format(
        "{} is a MIG slice; tidemark needs whole GPUs: switch MIG off (nvidia-smi -mig 0), or "
        "choose others with --gpus",
        what));
  if (gpu.compute_capability != kNeededCapability)
    throw EnvironmentError(fmt::format(
        "GPU {} ({}) is sm_{}; tidemark needs sm_{} (Hopper): on host {} choose others with --gpus",
        place, gpu.name, gpu.compute_capability, kNeededCapability, host_of(view)));
  for (const std::string& line : view.busy) {
    if (line.rfind(gpu.uuid + ' ', 0) == 0)
      throw EnvironmentError(fmt::format(
          "{} is in use: {}; wait for it to end, or choose others with --gpus", what, line));
  }
}

[[noreturn]] void refuse_crowd(const std::vector<RankView>& ranks, std::size_t rank,
                               const std::string& gpus) {
  const RankView& view = ranks[rank];
  std::size_t crowd = 0;
  std::set<std::string> different;
  for (const RankView& other : ranks) {
    if (other.machine != view.machine) continue;
    ++crowd;
    for (const Place place : chosen_of(other, gpus)) different.insert(other.visible[place].uuid);
  }
  if (different.size() >= crowd)
    throw EnvironmentError(fmt::format(
        "rank {} on host {} sees only GPUs that earlier ranks took: show every rank all GPUs, or "
        "each one its own (CUDA_VISIBLE_DEVICES)",
        rank, host_of(view)));
  throw EnvironmentError(
      fmt::format("{} on host {} but {}{}: start at most {} there", counted(crowd, "rank"),
                  host_of(view), counted(different.size(), "GPU"),
                  gpus.empty() ? "" : " chosen by --gpus", counted(different.size(), "rank")));
}

// The first GPU that no earlier rank took. UUIDs are compared over all machines: two machines with
// one GPU are one machine seen twice.
Place free_place(const std::vector<RankView>& ranks, std::size_t rank, const std::string& gpus,
                 const std::set<std::string>& taken) {
  for (const Place place : chosen_of(ranks[rank], gpus)) {
    if (taken.count(ranks[rank].visible[place].uuid) == 0) return place;
  }
  refuse_crowd(ranks, rank, gpus);
}

}  // namespace

Assignment assign_gpus(const std::vector<RankView>& ranks, const RunOptions& options,
                       bool launched) {
  // Only who asks for it gets the virtual device: a GPU that is gone must not turn into a pass.
  if (options.device == DeviceChoice::virtual_device)
    return assign_virtual(ranks.size(), options.gpus, launched);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) refuse_missing(ranks[rank], rank);
  refuse_unknown_gpus(ranks, options.gpus);
  Assignment assignment{.kind = DeviceKind::cuda};
  std::set<std::string> taken;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<Place> places = chosen_of(ranks[rank], options.gpus);
    if (launched) places = {free_place(ranks, rank, options.gpus, taken)};
    std::vector<GpuProperties>& mine = assignment.gpus.emplace_back();
    for (const Place place : places) {
      refuse_unusable(ranks[rank], place);
      mine.push_back(ranks[rank].visible[place]);
      taken.insert(mine.back().uuid);
    }
  }
  return assignment;
}

}  // namespace tidemark::harness
