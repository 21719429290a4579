// The host's half of programs: puts them into launches, encodes their maps, lays out their memory,
// reads everything back and takes it apart again.
#include "kernels/cuda/program/program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/mapped_buffer.hpp"
#include "kernels/cuda/program/program_kernel.hpp"

namespace tidemark {
namespace {

/// Programs of one launch, at most: more than a GPU has SMs, so that all of them have work.
constexpr std::size_t kLaunchPrograms = 224;
/// Memory that the programs of one launch may have together. A program that needs more has a launch
/// of its own.
constexpr std::uint64_t kLaunchBytes = std::uint64_t{256} << 20;
/// Regions start on this, so that none shares a page with another.
constexpr std::uint64_t kRegionAlignment = 4096;
/// Regions of MemorySource::edge that the programs of one launch may have together.
constexpr std::size_t kLaunchEdges = 32;
/// Sources whose regions lie one behind the other in one allocation.
constexpr std::array kSources = {MemorySource::device, MemorySource::async, MemorySource::pinned,
                                 MemorySource::mapped};

/// More than twice the L2 of an H200 (50 MB): what is written behind the regions drives them out.
constexpr std::uint64_t kFlushBytes = std::uint64_t{128} << 20;

constexpr std::uint64_t aligned(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

std::uint32_t snapshots_of(const Program& program) {
  std::uint32_t snapshots = 0;
  for (const Step& step : program.steps)
    if (step.verb == Verb::snapshot)
      snapshots += static_cast<std::uint32_t>(std::popcount(step.ctas));
  return snapshots;
}

/// Bytes that a region takes of the workspace's memory; none where a peer owns it.
std::uint64_t own_bytes(const Region& region) {
  return region.source == MemorySource::peer ? 0 : region.bytes;
}

/// Whether a program needs memory that no other shares: it has a launch of its own.
bool is_sparse(const Program& program) {
  return std::any_of(program.regions.begin(), program.regions.end(),
                     [](const Region& region) { return !region.islands.empty(); });
}

/// Where the bytes of a region stand among those of a launch that are read back: with regions at
/// edges stand those with islands.
std::size_t kind_of(const Region& region) {
  return static_cast<std::size_t>(region.islands.empty() ? region.source : MemorySource::edge);
}

std::uint64_t memory_bytes(const Program& program) {
  std::uint64_t bytes = std::uint64_t{snapshots_of(program)} * program.window;
  for (const Region& region : program.regions)
    bytes += aligned(own_bytes(region), kRegionAlignment);
  return bytes;
}

/// Where one program of a launch keeps what it has. Offsets are bytes in the answer, and for
/// regions in the memory of their source.
struct Placed {
  const Program* program = nullptr;
  RunResult* result = nullptr;
  std::uint64_t ends = 0, trace = 0, snapshots = 0;
  std::vector<std::uint64_t> regions;
  std::size_t first_edge = 0;
  std::uint32_t first_map = 0;
};

/// The programs of one launch and the memory that they need together.
struct Launch {
  std::vector<Placed> placed;
  std::byte* peer = nullptr;  // memory of another rank
  std::uint64_t answer = 0;   // bytes: ends, traces, snapshots
  // Bytes of each kind of memory; of edges as they are read back.
  std::array<std::uint64_t, static_cast<std::size_t>(MemorySource::peer) + 1> sources{};
  std::size_t edges = 0;
  std::vector<SparseBuffer> sparse;  // by the region of the only program
  bool cold = false;                 // of all its programs, or of none
  std::uint64_t memory = 0;
  std::uint32_t maps = 0;
  ProgramGrid grid;
};

std::size_t edges_before(const Program& program, std::size_t region) {
  std::size_t edges = 0;
  for (std::size_t i = 0; i < region; ++i)
    edges += program.regions[i].source == MemorySource::edge ? 1 : 0;
  return edges;
}

std::size_t edges_of(const Program& program) {
  return edges_before(program, program.regions.size());
}

bool is_cold(const Program& program) {
  return std::any_of(program.regions.begin(), program.regions.end(),
                     [](const Region& region) { return region.cold; });
}

bool has_room(const Launch& launch, const Program& program) {
  if (launch.placed.empty()) return true;
  if (is_sparse(program) || is_sparse(*launch.placed.front().program)) return false;
  if (launch.edges + edges_of(program) > kLaunchEdges) return false;
  return launch.placed.size() < kLaunchPrograms &&
         launch.maps + program.maps.size() <= kLaunchMaps &&
         launch.memory + memory_bytes(program) <= kLaunchBytes;
}

void place(Launch& launch, const Program& program, RunResult& result) {
  Placed placed;
  placed.program = &program;
  placed.result = &result;
  const auto take = [](std::uint64_t& total, std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t at = aligned(total, alignment);
    total = at + bytes;
    return at;
  };
  placed.ends = take(launch.answer, sizeof(CtaEnd) * ctas_of(program), 16);
  placed.trace =
      take(launch.answer, sizeof(std::uint64_t) * program.steps.size() * ctas_of(program), 16);
  placed.snapshots = take(launch.answer, std::uint64_t{snapshots_of(program)} * program.window, 16);
  for (const Region& region : program.regions)
    placed.regions.push_back(
        take(launch.sources[kind_of(region)], own_bytes(region), kRegionAlignment));
  placed.first_edge = launch.edges;
  launch.edges += edges_of(program);
  launch.cold = is_cold(program);
  placed.first_map = launch.maps;
  launch.maps += static_cast<std::uint32_t>(program.maps.size());
  launch.memory += memory_bytes(program);
  launch.grid.cluster = program.cluster;
  launch.grid.window = std::max(launch.grid.window, program.window);
  launch.placed.push_back(std::move(placed));
}

std::byte* region_data(const RowWorkspace& workspace, const Launch& launch, const Placed& placed,
                       std::size_t region) {
  const MemorySource source = placed.program->regions[region].source;
  if (!placed.program->regions[region].islands.empty()) return launch.sparse[region].data();
  if (source == MemorySource::peer) return launch.peer;
  if (source == MemorySource::edge) {
    const MappedBuffer& edge =
        workspace.edges[placed.first_edge + edges_before(*placed.program, region)];
    return edge.data() + edge.size() - placed.program->regions[region].bytes;
  }
  return tensor_data(workspace, source) + placed.regions[region];
}

/// False where the driver refused one, which is the program's result then.
bool encode_maps(const RowWorkspace& workspace, const Launch& launch, const Placed& placed,
                 LaunchMaps& maps) {
  const Program& program = *placed.program;
  for (std::size_t i = 0; i < program.maps.size(); ++i) {
    const Map& map = program.maps[i];
    maps.places[placed.first_map + i] = place_of_map(program, static_cast<std::uint8_t>(i));
    maps.ranks[placed.first_map + i] = rank_and_kind(map.spec);
    if (map.spec.bulk) continue;
    const Encoded encoded = encode(map.spec, region_data(workspace, launch, placed, map.region) +
                                                 kGuardBytes + map.spec.base_offset);
    if (encoded.code != CUDA_SUCCESS) {
      placed.result->fault = DeviceFault::encode_refused;
      placed.result->code = static_cast<std::int32_t>(encoded.code);
      placed.result->note = encode_refusal(encoded.code, map.spec);
      return false;
    }
    maps.maps[placed.first_map + i] = encoded.map;
    placed.result->maps.push_back(descriptor_bytes(encoded.map));
  }
  return true;
}

/// Everything that the GPU reads of a launch, in one piece of host memory: tasks, regions, where
/// these are, maps as they were asked for, those that are not kernel parameters, products, steps.
struct Orders {
  std::uint64_t regions = 0, places = 0, specs = 0, maps = 0, products = 0, steps = 0, bytes = 0;
  std::uint32_t region_count = 0, fills = 0;
};

/// Stretches of memory that a region has.
std::uint32_t parts_of(const Region& region) {
  return std::max(static_cast<std::uint32_t>(region.islands.size()), 1U);
}

/// Whether the program has maps that are not kernel parameters.
bool is_replaced(const Program& program) {
  return std::any_of(program.maps.begin(), program.maps.end(),
                     [](const Map& map) { return map.from != kEncoded; });
}

/// The maps of `program` as global memory has them at first.
void write_maps(const Program& program, std::span<const CUtensorMap> encoded, std::byte* to) {
  for (std::size_t i = 0; i < program.maps.size(); ++i) {
    const CUtensorMap zeros{};
    const CUtensorMap& first = program.maps[i].from == kEncoded ? encoded[i] : zeros;
    std::memcpy(to + sizeof(CUtensorMap) * i, &first, sizeof(CUtensorMap));
  }
}

Orders lay_out(const Launch& launch) {
  std::uint64_t steps = 0, products = 0;
  Orders orders;
  for (const Placed& placed : launch.placed) {
    steps += placed.program->steps.size();
    products += placed.program->products.size();
    orders.region_count += static_cast<std::uint32_t>(placed.program->regions.size());
    for (const Region& region : placed.program->regions) orders.fills += parts_of(region);
  }
  orders.regions = aligned(sizeof(ProgramTask) * launch.placed.size(), 16);
  orders.places = aligned(orders.regions + sizeof(RegionTask) * orders.fills, 16);
  orders.specs = aligned(orders.places + sizeof(std::uint8_t*) * orders.region_count, 16);
  orders.maps = aligned(orders.specs + sizeof(Map) * launch.maps, 128);
  const bool replaces =
      std::any_of(launch.placed.begin(), launch.placed.end(),
                  [](const Placed& placed) { return is_replaced(*placed.program); });
  orders.products = orders.maps + (replaces ? sizeof(CUtensorMap) * launch.maps : 0);
  orders.steps = aligned(orders.products + sizeof(Wgmma) * products, 16);
  orders.bytes = orders.steps + sizeof(Step) * steps;
  return orders;
}

/// Writes the orders of `launch` into host memory, with addresses for the GPU.
void write_orders(const RowWorkspace& workspace, const Launch& launch, const Orders& orders,
                  const LaunchMaps& maps) {
  std::byte* const host = workspace.host.data();
  std::byte* const answer = workspace.answer.data();
  auto* task = new (host) ProgramTask[launch.placed.size()];
  auto* region = reinterpret_cast<RegionTask*>(host + orders.regions);
  auto* region_place = reinterpret_cast<const std::uint8_t**>(host + orders.places);
  const auto* device_place =
      reinterpret_cast<const std::uint8_t* const*>(workspace.orders.data() + orders.places);
  auto* spec = reinterpret_cast<Map*>(host + orders.specs);
  const auto* device_spec = reinterpret_cast<const Map*>(workspace.orders.data() + orders.specs);
  auto* const device_map = reinterpret_cast<CUtensorMap*>(workspace.orders.data() + orders.maps);
  auto* product = reinterpret_cast<Wgmma*>(host + orders.products);
  const auto* device_product =
      reinterpret_cast<const Wgmma*>(workspace.orders.data() + orders.products);
  auto* step = reinterpret_cast<Step*>(host + orders.steps);
  const auto* device_step = reinterpret_cast<const Step*>(workspace.orders.data() + orders.steps);
  for (const Placed& placed : launch.placed) {
    const Program& program = *placed.program;
    *task++ = {.steps = device_step,
               .specs = device_spec,
               .products = device_product,
               .maps = device_map + (is_replaced(program) ? placed.first_map : 0),
               .step_count = static_cast<std::uint32_t>(program.steps.size()),
               .window = program.window,
               .first_map = placed.first_map,
               .payload = program.payload,
               .trace = reinterpret_cast<std::uint64_t*>(answer + placed.trace),
               .snapshots = reinterpret_cast<std::uint8_t*>(answer + placed.snapshots),
               .regions = device_place,
               .ends = reinterpret_cast<CtaEnd*>(answer + placed.ends)};
    if (is_replaced(program))
      write_maps(program, std::span(maps.maps).subspan(placed.first_map),
                 host + orders.maps + sizeof(CUtensorMap) * placed.first_map);
    for (std::size_t i = 0; i < program.regions.size(); ++i) {
      auto* const memory =
          reinterpret_cast<std::uint8_t*>(region_data(workspace, launch, placed, i));
      RegionTask part{.memory = memory,
                      .bytes = own_bytes(program.regions[i]),
                      .element = program.regions[i].element,
                      .numbers = program.regions[i].numbers,
                      .poison = program.regions[i].poison,
                      .payload = program.payload};
      if (program.regions[i].islands.empty()) *region++ = part;
      for (const Island& island : program.regions[i].islands) {
        part.memory = memory + island.at;
        part.bytes = island.bytes;
        *region++ = part;
        part.first += island.bytes;
      }
      *region_place++ = memory;
    }
    device_place += program.regions.size();
    spec = std::copy(program.maps.begin(), program.maps.end(), spec);
    device_spec += program.maps.size();
    product = std::copy(program.products.begin(), program.products.end(), product);
    device_product += program.products.size();
    step = std::copy(program.steps.begin(), program.steps.end(), step);
    device_step += program.steps.size();
  }
}

/// Starts to bring the answer and every kind of memory that the launch has into host memory.
void start_read_back(RowWorkspace& workspace, const Launch& launch) {
  cudaStream_t stream = workspace.stream.get();
  cuda_check(cudaMemcpyAsync(workspace.host.data(), workspace.answer.data(), launch.answer,
                             cudaMemcpyDeviceToHost, stream),
             "read the answer of programs back");
  std::uint64_t at = launch.answer;
  for (const MemorySource source : kSources) {
    const std::uint64_t bytes = launch.sources[static_cast<std::size_t>(source)];
    if (bytes == 0) continue;
    // Default: pinned memory is the host's, all other sources are the device's.
    cuda_check(cudaMemcpyAsync(workspace.host.data() + at, tensor_data(workspace, source), bytes,
                               cudaMemcpyDefault, stream),
               "read the regions of programs back");
    at += bytes;
  }
  for (const Placed& placed : launch.placed)
    for (std::size_t i = 0; i < placed.program->regions.size(); ++i) {
      std::uint64_t to = at + placed.regions[i];
      for (const Island& island : placed.program->regions[i].islands) {
        cuda_check(cudaMemcpyAsync(workspace.host.data() + to,
                                   region_data(workspace, launch, placed, i) + island.at,
                                   island.bytes, cudaMemcpyDeviceToHost, stream),
                   "read an island back");
        to += island.bytes;
      }
      if (placed.program->regions[i].source == MemorySource::edge)
        cuda_check(
            cudaMemcpyAsync(workspace.host.data() + at + placed.regions[i],
                            region_data(workspace, launch, placed, i),
                            placed.program->regions[i].bytes, cudaMemcpyDeviceToHost, stream),
            "read a region at an edge back");
    }
}

void take_ends(const RowWorkspace& workspace, const Placed& placed, std::uint32_t launch) {
  const auto* const ends = reinterpret_cast<const CtaEnd*>(workspace.host.data() + placed.ends);
  RunResult& result = *placed.result;
  for (std::uint32_t cta = 0; cta < ctas_of(*placed.program); ++cta) {
    if (ends[cta].launch != launch)
      throw Error(fmt::format("launch {} left no end of a program (found that of {})", launch,
                              ends[cta].launch));
    result.sms.push_back(static_cast<std::uint16_t>(ends[cta].sm));
    if (ends[cta].stopped_at == kNotStopped || result.fault == DeviceFault::timeout) continue;
    result.fault = DeviceFault::timeout;
    result.note = stop_note(*placed.program, ends[cta].stopped_at, cta);
  }
}

void take_result(const RowWorkspace& workspace, const Launch& launch, const Placed& placed) {
  const Program& program = *placed.program;
  RunResult& result = *placed.result;
  const std::byte* const host = workspace.host.data();
  take_ends(workspace, placed, launch.grid.launch);
  const auto* const trace = reinterpret_cast<const std::uint64_t*>(host + placed.trace);
  result.trace.assign(trace, trace + program.steps.size() * ctas_of(program));
  const auto* const windows = reinterpret_cast<const std::uint8_t*>(host + placed.snapshots);
  result.bytes.assign(windows, windows + std::size_t{snapshots_of(program)} * program.window);
  for (std::size_t i = 0; i < program.regions.size(); ++i) {
    std::uint64_t at = launch.answer + placed.regions[i];
    for (std::size_t kind = 0; kind < kind_of(program.regions[i]); ++kind)
      at += launch.sources[kind];
    const auto* const region = reinterpret_cast<const std::uint8_t*>(host + at);
    result.surroundings.insert(result.surroundings.end(), region,
                               region + own_bytes(program.regions[i]));
  }
}

void for_all(const Launch& launch, DeviceFault fault, std::int32_t code, const std::string& note) {
  for (const Placed& placed : launch.placed) {
    placed.result->fault = fault;
    placed.result->code = code;
    placed.result->note = note;
  }
}

void grow_memory(RowWorkspace& workspace, Launch& launch) {
  grow(workspace.answer, launch.answer);
  for (const MemorySource source : kSources)
    grow_tensor(workspace, source, launch.sources[static_cast<std::size_t>(source)]);
  while (workspace.edges.size() < launch.edges)
    workspace.edges.emplace_back(kEdgeBytes, MappedBuffer::Behind::nothing);
  if (launch.cold) grow(workspace.flush, kFlushBytes);
  const Program& first = *launch.placed.front().program;
  if (!is_sparse(first)) return;
  for (const Region& region : first.regions) launch.sparse.emplace_back(region.islands);
}

/// Writes the orders and starts to bring them to the GPU.
void hand_over(RowWorkspace& workspace, const Launch& launch, const Orders& orders,
               const LaunchMaps& maps) {
  std::uint64_t read_back = launch.answer;
  for (const std::uint64_t bytes : launch.sources) read_back += bytes;
  grow(workspace.orders, orders.bytes);
  grow(workspace.host, std::max(read_back, orders.bytes));
  write_orders(workspace, launch, orders, maps);
  cuda_check(cudaMemcpyAsync(workspace.orders.data(), workspace.host.data(), orders.bytes,
                             cudaMemcpyHostToDevice, workspace.stream.get()),
             "hand programs to the GPU");
}

void run_launch(RowWorkspace& workspace, Launch& launch) {
  const auto maps = std::make_unique<LaunchMaps>();  // 28 KiB
  cudaStream_t stream = workspace.stream.get();
  grow_memory(workspace, launch);
  // A program whose map the driver refuses has that for its result.
  std::erase_if(launch.placed, [&](const Placed& placed) {
    return !encode_maps(workspace, launch, placed, *maps);
  });
  if (launch.placed.empty()) return;
  launch.grid.programs = static_cast<std::uint32_t>(launch.placed.size());
  launch.grid.launch = ++workspace.launches;
  const Orders orders = lay_out(launch);
  hand_over(workspace, launch, orders, *maps);
  // Where a step is not taken its trace is 0, and where a program does not end there is no end.
  cuda_check(cudaMemsetAsync(workspace.answer.data(), 0, launch.answer, stream),
             "clear the answer of programs");
  launch_fill_regions(reinterpret_cast<const RegionTask*>(workspace.orders.data() + orders.regions),
                      orders.fills, stream);
  if (launch.cold)
    cuda_check(cudaMemsetAsync(workspace.flush.data(), 0x5a, kFlushBytes, stream), "flush L2");
  const bool launched =
      launch_programs(*maps, workspace.orders.as<ProgramTask>(), launch.grid, stream);
  if (launched) start_read_back(workspace, launch);
  if (!wait_for_launch(workspace)) return for_all(launch, DeviceFault::timeout, 0, hung_note());
  if (!launched)
    return for_all(
        launch, DeviceFault::unsupported, 0,
        fmt::format("this GPU cannot start a cluster of {} CTAs with windows of {} bytes",
                    ctas_of(*launch.placed.front().program), launch.grid.window));
  for (const Placed& placed : launch.placed) take_result(workspace, launch, placed);
}

void require_sound(const Program& program) {
  if (const std::string why = unsound(program); !why.empty()) throw Error(why);
  static const std::uint32_t largest = prepare_programs();
  if (program.window > largest)
    throw Error(
        fmt::format("program: a window of {} bytes does not fit the {} bytes of shared memory that "
                    "a CTA has: choose a smaller box",
                    program.window, largest));
  if (program.maps.size() > kLaunchMaps)
    throw Error(fmt::format("program: {} maps; take at most {}", program.maps.size(), kLaunchMaps));
}

/// Runs the launch; its results say what cost the process its GPU.
void run_or_lose(RowWorkspace& workspace, Launch& launch) {
  RunResult lost;
  catch_sticky(lost, [&] { run_launch(workspace, launch); });
  if (lost.fault == DeviceFault::none) return;
  for_all(launch, lost.fault, lost.code, lost.note);
}

/// Programs of one shape share launches, as far as they have room; others come between them. Those
/// that find L2 flushed do not share with those that do not.
std::vector<Launch> make_launches(std::span<const Program> programs,
                                  std::vector<RunResult>& results) {
  std::vector<Launch> launches;
  std::map<std::pair<std::array<std::uint32_t, 3>, bool>, std::size_t> open;  // by cluster, cold
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::pair kind{programs[i].cluster, is_cold(programs[i])};
    const auto found = open.find(kind);
    const bool fits = found != open.end() && has_room(launches[found->second], programs[i]);
    if (!fits) {
      open[kind] = launches.size();
      launches.emplace_back();
    }
    place(launches[fits ? found->second : launches.size() - 1], programs[i], results[i]);
  }
  return launches;
}

void refuse_after_hang(const RowWorkspace& workspace) {
  if (workspace.hung) throw Error("an earlier kernel never ended; run this row in a new process");
}

}  // namespace

RunResult run_peer_program(RowWorkspace& workspace, const Program& program, std::byte* memory) {
  refuse_after_hang(workspace);
  require_sound(program);
  RunResult result;
  Launch launch;
  launch.peer = memory;
  place(launch, program, result);
  run_or_lose(workspace, launch);
  return result;
}

std::vector<RunResult> run_programs(RowWorkspace& workspace, std::span<const Program> programs) {
  refuse_after_hang(workspace);
  std::vector<RunResult> results(programs.size());
  for (const Program& program : programs) require_sound(program);
  std::vector<Launch> launches = make_launches(programs, results);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    run_or_lose(workspace, launches[i]);
    launches[i].sparse.clear();
    if (launches[i].placed.empty()) continue;
    const RunResult& seen = *launches[i].placed.front().result;
    if (seen.fault != DeviceFault::sticky && !workspace.hung) continue;
    for (const Launch& never : std::span(launches).subspan(i + 1))
      for_all(never, seen.fault, seen.code, seen.note);
    break;
  }
  return results;
}

}  // namespace tidemark
