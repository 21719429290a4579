// Gives each rank its GPUs, or says in one line why it cannot.
#include "harness/discovery/assignment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/mpirun.hpp"
#include "reports/base/words.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kNeededCapability = 90;
constexpr std::uint32_t kMostVirtual = 1024;

/// A GPU that a rank sees: its place in RankView::visible.
using Place = std::size_t;

const std::string& host_of(const RankView& rank) {
  return rank.host.empty() ? rank.machine : rank.host;
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

/// Why a rank or a GPU cannot be used, and what to do about it.
struct Obstacle {
  std::string what, fix;

  [[noreturn]] void refuse() const { throw EnvironmentError(what + fix); }
};

/// What is left out of a launch; with --strict-gpus nothing may be.
void leave_out(Assignment& assignment, const Obstacle& obstacle, const LaunchOptions& options) {
  if (options.strict_gpus) obstacle.refuse();
  auto& known = assignment.left_out;
  if (std::find(known.begin(), known.end(), obstacle.what) == known.end())
    known.push_back(obstacle.what);
}

bool has_no_gpu(const Assignment& assignment) {
  return std::all_of(assignment.gpus.begin(), assignment.gpus.end(),
                     [](const auto& gpus) { return gpus.empty(); });
}

Assignment assign_virtual(const std::vector<RankView>& ranks, const LaunchOptions& options,
                          bool launched) {
  const std::string& gpus = options.gpus;
  std::size_t count = launched ? ranks.size() : 1;
  if (!gpus.empty()) {
    const auto given = whole_number<std::size_t>(gpus);
    if (!given || *given < 1 || *given > kMostVirtual)
      throw UsageError(
          fmt::format("--gpus '{}': for the virtual device it is how many there are, 1 to {}", gpus,
                      kMostVirtual));
    const std::string differ = fmt::format("{} but --gpus {}: one rank drives one virtual device",
                                           plural(ranks.size(), "rank"), *given);
    if (launched && *given < ranks.size()) throw EnvironmentError(differ);
    if (launched && *given > ranks.size())
      throw UsageError(fmt::format("{}; start {} ranks", differ, *given));
    if (!launched) count = *given;
  }
  Assignment assignment{.kind = DeviceKind::virtual_device};
  assignment.gpus.assign(ranks.size(), std::vector<GpuProperties>(launched ? 1 : count));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].problem.empty()) continue;
    leave_out(assignment,
              {fmt::format("rank {} on host {} has no virtual device: {}", rank,
                           host_of(ranks[rank]), ranks[rank].problem),
               ""},
              options);
    assignment.gpus[rank].clear();
  }
  if (has_no_gpu(assignment)) throw EnvironmentError(assignment.left_out.front());
  return assignment;
}

bool names(const std::string& part, Place place, const GpuProperties& gpu) {
  if (const auto index = whole_number<std::size_t>(part)) return *index == place;
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

/// Of a rank that sees no GPU.
Obstacle missing(const RankView& view, std::size_t rank) {
  if (!view.nvidia_present)
    return {fmt::format("rank {} on host {} has no NVIDIA device", rank, host_of(view)),
            ": start it on a GPU machine, or give --device virtual"};
  return {fmt::format("rank {} on host {} has an NVIDIA device but no usable GPU: {}", rank,
                      host_of(view), view.problem.empty() ? "nothing says why" : view.problem),
          " (--device virtual does without)"};
}

std::optional<Obstacle> obstacle_of(const RankView& view, Place place) {
  const GpuProperties& gpu = view.visible[place];
  const std::string what = fmt::format("GPU {} ({}) of host {}", place, gpu.name, host_of(view));
  if (gpu.uuid.rfind("MIG-", 0) == 0)
    return Obstacle{what + " is a MIG slice",
                    "; tidemark needs whole GPUs: switch MIG off (nvidia-smi -mig 0), or choose "
                    "others with --gpus"};
  if (gpu.compute_capability != kNeededCapability)
    return Obstacle{fmt::format("{} is sm_{}", what, gpu.compute_capability),
                    fmt::format("; tidemark needs sm_{} (Hopper): choose others with --gpus",
                                kNeededCapability)};
  for (const std::string& line : view.busy) {
    if (line.rfind(gpu.uuid + ' ', 0) == 0)
      return Obstacle{fmt::format("{} is in use: {}", what, line),
                      "; wait for it to end, or choose others with --gpus"};
  }
  return std::nullopt;
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
      fmt::format("{} on host {} but {}{}: start at most {} there", plural(crowd, "rank"),
                  host_of(view), plural(different.size(), "GPU"),
                  gpus.empty() ? "" : " chosen by --gpus", plural(different.size(), "rank")));
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

/// A GPU that is named must not be left out for want of a rank.
void refuse_left_over(const std::vector<RankView>& ranks, const std::string& gpus,
                      const std::set<std::string>& taken) {
  for (const RankView& rank : ranks)
    for (const Place place : chosen_of(rank, gpus))
      if (taken.count(rank.visible[place].uuid) == 0)
        throw UsageError(fmt::format(
            "--gpus '{}' names GPU {} of host {}, and there is no rank for it; start one a GPU",
            gpus, place, host_of(rank)));
}

Assignment assign_cuda(const std::vector<RankView>& ranks, const LaunchOptions& options,
                       bool launched) {
  const auto sees_none = [](const RankView& rank) { return rank.visible.empty(); };
  if (std::all_of(ranks.begin(), ranks.end(), sees_none)) missing(ranks.front(), 0).refuse();
  refuse_unknown_gpus(ranks, options.gpus);
  Assignment assignment{.kind = DeviceKind::cuda};
  std::set<std::string> taken;
  std::optional<Obstacle> first;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<GpuProperties>& mine = assignment.gpus.emplace_back();
    if (sees_none(ranks[rank])) {
      leave_out(assignment, missing(ranks[rank], rank), options);
      continue;
    }
    std::vector<Place> places = chosen_of(ranks[rank], options.gpus);
    // Its place, whether it can be used or not: the ranks behind it keep theirs.
    if (launched) places = {free_place(ranks, rank, options.gpus, taken)};
    for (const Place place : places) {
      const GpuProperties& gpu = ranks[rank].visible[place];
      taken.insert(gpu.uuid);
      if (const std::optional<Obstacle> obstacle = obstacle_of(ranks[rank], place)) {
        if (!options.gpus.empty()) obstacle->refuse();  // who names it wants it
        leave_out(assignment, *obstacle, options);
        if (!first) first = obstacle;
      } else {
        mine.push_back(gpu);
      }
    }
  }
  if (launched && !options.gpus.empty()) refuse_left_over(ranks, options.gpus, taken);
  if (first && has_no_gpu(assignment)) first->refuse();
  return assignment;
}

/// How many GPUs of each machine can be used, whichever rank sees them.
std::map<std::string, std::size_t> usable_by_machine(const std::vector<RankView>& ranks,
                                                     const LaunchOptions& options,
                                                     const Assignment& assignment) {
  std::map<std::string, std::size_t> usable;
  std::set<std::string> counted_uuids;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::size_t& here = usable[ranks[rank].machine];
    if (assignment.kind == DeviceKind::virtual_device) {
      here += assignment.gpus[rank].size();
      continue;
    }
    for (const Place place : chosen_of(ranks[rank], options.gpus)) {
      const bool is_new = counted_uuids.insert(ranks[rank].visible[place].uuid).second;
      if (is_new && !obstacle_of(ranks[rank], place)) ++here;
    }
  }
  return usable;
}

/// Of a GPU that is not even seen nothing else tells.
void check_expected(const std::vector<RankView>& ranks, const LaunchOptions& options,
                    const Assignment& assignment) {
  if (options.expect_gpus == 0) return;
  const auto usable = usable_by_machine(ranks, options, assignment);
  for (const RankView& rank : ranks) {
    const std::size_t found = usable.at(rank.machine);
    if (found >= options.expect_gpus) continue;
    throw EnvironmentError(
        fmt::format("host {} has {}, --expect-gpus {}{}{}; run 'tidemark doctor' there",
                    host_of(rank), plural(found, "usable GPU"), options.expect_gpus,
                    assignment.left_out.empty() ? "" : ": ", fmt::join(assignment.left_out, "; ")));
  }
}

}  // namespace

Assignment assign_gpus(const std::vector<RankView>& ranks, const LaunchOptions& options,
                       bool launched) {
  // Only who asks for it gets the virtual device: a GPU that is gone must not turn into a pass.
  const bool is_virtual = options.device == DeviceChoice::virtual_device;
  Assignment assignment =
      is_virtual ? assign_virtual(ranks, options, launched) : assign_cuda(ranks, options, launched);
  check_expected(ranks, options, assignment);
  return assignment;
}

// Chooses among what the inventory found.

bool chooses_gpu(DeviceChoice device) {
  return device == DeviceChoice::cuda || (device == DeviceChoice::automatic && nvidia_present());
}

void check_one_gpu(std::string_view verb, const LaunchOptions& options) {
  if (launched_ranks().value_or(1) > 1)
    throw UsageError(
        fmt::format("{} uses one GPU: start it on one rank, or without a launcher", verb));
  if (options.gpus.find(',') != std::string::npos)
    throw UsageError(
        fmt::format("--gpus '{}': {} uses one GPU; give its index or UUID", options.gpus, verb));
}

GpuRecord one_gpu(std::string_view verb, LaunchOptions options, const std::string& preferred) {
  const GpuInventory inventory = take_inventory();
  if (!inventory.nvidia_present)
    throw EnvironmentError(fmt::format(
        "{}: this machine has no NVIDIA device; run it on one with a Hopper GPU", verb));
  RankView view{.nvidia_present = inventory.nvidia_present,
                .visible = inventory.visible,
                .problem = inventory.problem,
                .busy = busy_gpus(inventory),
                .host = describe_node(0, "").hostname};
  view.machine = view.host;
  const bool there = std::any_of(view.visible.begin(), view.visible.end(),
                                 [&](const auto& gpu) { return gpu.uuid == preferred; });
  if (options.gpus.empty() && there) options.gpus = preferred;
  const Assignment assignment = assign_gpus({view}, options, true);
  const GpuProperties& gpu = assignment.gpus.at(0).at(0);
  GpuRecord record = describe_gpu(inventory, gpu.uuid);
  if (record.name.empty()) record.name = gpu.name;
  return record;
}

// Adds up what the slots need, and compares.

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kContext = 2 * kGiB;  // of a GPU: CUDA's context, modules, buffers of NCCL

/// Tenths of a GiB, so that what does not fit never looks as if it did.
std::string rounded_up(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", std::ceil(10.0 * static_cast<double>(bytes) / kGiB) / 10);
}
std::string rounded_down(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", std::floor(10.0 * static_cast<double>(bytes) / kGiB) / 10);
}

struct Machine {
  std::string host;
  std::uint64_t needed = 0, free = 0;
};

}  // namespace

void check_product_memory(const ProductOptions& product, DeviceKind device,
                          const std::vector<SlotMemory>& slots) {
  if (!product.has_shape()) return;
  const std::string what = shape_text(product.shape);
  const bool is_virtual = device == DeviceKind::virtual_device;
  const auto ranks = static_cast<std::uint32_t>(slots.size());
  std::map<std::string, Machine> machines;
  for (std::uint32_t slot = 0; slot < ranks; ++slot) {
    const SlotMemory& has = slots[slot];
    const ProductMemory needs = memory_of(product, slot, ranks);
    if (!is_virtual && has.gpu_bytes != 0 && needs.device + kContext > has.gpu_bytes)
      throw UsageError(
          fmt::format("{}: {} per GPU, {} of it for CUDA and NCCL, but GPU {} has {}; give a "
                      "smaller product or more ranks",
                      what, rounded_up(needs.device + kContext), rounded_up(kContext), slot,
                      rounded_down(has.gpu_bytes)));
    Machine& machine = machines[has.machine];
    machine.host = has.host;
    machine.free = has.machine_free;
    machine.needed += needs.host + (is_virtual ? needs.device : 0);
  }
  for (const auto& [name, machine] : machines) {
    if (machine.free == 0 || machine.needed <= machine.free) continue;
    throw UsageError(fmt::format(
        "{}: {} of host memory, but {} has {} free; give a smaller product or more machines", what,
        rounded_up(machine.needed), machine.host, rounded_down(machine.free)));
  }
}

}  // namespace tidemark
