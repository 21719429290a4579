// Writes a program as CUDA C++, from the heading down to main().
#include "suite/reproducer/reproducer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "suite/reproducer/reproducer_parts.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kColumns = 120;

/// Memory of {1} bytes in {2}size{0} bytes of addresses.
constexpr std::string_view kMapped = R"cu(  CUmemAllocationProp kind{0}{{}};
  kind{0}.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind{0}.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t size{0};
  CHECK(cuMemGetAllocationGranularity(&size{0}, &kind{0}, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  size{0} = ({1} + size{0} - 1) / size{0} * size{0};
  CHECK(cuMemAddressReserve((CUdeviceptr*)&region{0}, {2}size{0}, 0, 0, 0));
  CUmemGenericAllocationHandle handle{0};
  CHECK(cuMemCreate(&handle{0}, size{0}, &kind{0}, 0));
  CHECK(cuMemMap((CUdeviceptr)region{0}, size{0}, 0, handle{0}, 0));
  const CUmemAccessDesc access{0}{{kind{0}.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
  CHECK(cuMemSetAccess((CUdeviceptr)region{0}, size{0}, &access{0}, 1));
)cu";

/// In the order of MemorySource: how region {0} gets {1} bytes.
constexpr std::string_view kAllocations[] = {
    R"cu(  CHECK(cudaMalloc(&region{0}, {1}));
)cu",
    R"cu(  CHECK(cudaMallocAsync(&region{0}, {1}, 0));
)cu",
    R"cu(  CHECK(cudaMallocHost(&region{0}, {1}));
)cu",
    kMapped,
    kMapped,
    R"cu(  CHECK(cudaSetDevice(1));
  CHECK(cudaMalloc(&region{0}, {1}));
  CHECK(cudaSetDevice(0));
)cu"};

/// Addresses of region {0} of which the pieces that hold islands have memory, {1} bytes in all.
constexpr std::string_view kIslands = R"cu(  CUmemAllocationProp kind{0}{{}};
  kind{0}.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind{0}.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t piece{0};
  CHECK(cuMemGetAllocationGranularity(&piece{0}, &kind{0}, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const u64 island{0}[][2] = {{{2}}};  // address, bytes
  CHECK(cuMemAddressReserve((CUdeviceptr*)&region{0}, {3} / piece{0} * piece{0} + piece{0}, 0, 0, 0));
  u64 held{0} = 0, next{0} = 0;
  std::vector<{4}> before{0}({5}), after{0}({5});
  for (u64 i = 0; i < {5}; ++i) before{0}[i] = {6};
  for (const auto [at, bytes] : island{0}) {{
    for (u64 p = at / piece{0}; p * piece{0} < at + bytes; ++p) {{
      if (p < next{0}) continue;
      CUmemGenericAllocationHandle handle;
      CHECK(cuMemCreate(&handle, piece{0}, &kind{0}, 0));
      CHECK(cuMemMap((CUdeviceptr)region{0} + p * piece{0}, piece{0}, 0, handle, 0));
      const CUmemAccessDesc access{{kind{0}.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
      CHECK(cuMemSetAccess((CUdeviceptr)region{0} + p * piece{0}, piece{0}, &access, 1));
      next{0} = p + 1;
    }}
    CHECK(cudaMemcpy(region{0} + at, (u8*)before{0}.data() + held{0}, bytes, cudaMemcpyDefault));
    held{0} += bytes;
  }}
)cu";

/// The same of a region that is not poison, whatever its numbers.
std::string region_in_code(const Region& region) {
  if (region.numbers >= Numbers::integers_f16) {
    const MmaType type = mma_type(region.numbers);
    const FloatFormat format = float_format(type);
    if (is_integer(type)) return "source_word(i)";
    return fmt::format("integers(source_word(i), {}, {}, {})", 8 * element_bytes(type),
                       format.exponent, format.mantissa);
  }
  const bool floats = region.element == DataType::f32;
  if (region.numbers == Numbers::small)
    return fmt::format("numbers(source_word(i), source_word(i) >> 32, {})", floats);
  if (region.numbers == Numbers::counting)
    return fmt::format("numbers((2 * i - {0}) ^ u64(kFlip), (2 * i - {0} + 1) ^ u64(kFlip), {1})",
                       kGuardBytes / 4, floats);
  return std::string(source_in_code(region.element));
}

std::string islands_text(const Region& region, std::size_t number) {
  std::string islands;
  for (const Island& island : region.islands)
    islands += fmt::format("{}{{{}u, {}u}}", islands.empty() ? "" : ", ", island.at, island.bytes);
  return fmt::format("  u8* region{};\n", number) +
         fmt::format(fmt::runtime(kIslands), number, region.bytes, islands,
                     region.islands.back().at + region.islands.back().bytes,
                     region.poison ? "u8" : "u64", region.poison ? region.bytes : region.bytes / 8,
                     region.poison ? "poison_byte((u32)i, 0)" : region_in_code(region));
}

std::string region_text(const Region& region, std::size_t number) {
  if (!region.islands.empty()) return islands_text(region, number);
  const bool edge = region.source == MemorySource::edge;
  return fmt::format("  u8* region{};\n", number) +
         fmt::format(fmt::runtime(kAllocations[static_cast<std::size_t>(region.source)]), number,
                     region.bytes, edge ? "2 * " : "") +
         (edge ? fmt::format("  region{0} += size{0} - {1};  // ends with the last mapped byte\n",
                             number, region.bytes)
               : "") +
         fmt::format(R"cu(  std::vector<{4}> before{0}({1}), after{0}({1});
  for (u64 i = 0; i < {1}; ++i) before{0}[i] = {2};
  CHECK(cudaMemcpy(region{0}, before{0}.data(), {3}, cudaMemcpyDefault));
)cu",
                     number, region.poison ? region.bytes : region.bytes / 8,
                     region.poison ? "poison_byte((u32)i, 0)" : region_in_code(region),
                     region.bytes, region.poison ? "u8" : "u64");
}

std::string region_print(const Region& region, std::size_t number) {
  if (!region.islands.empty())
    return fmt::format(R"cu(  held{0} = 0;
  for (const auto [at, bytes] : island{0}) {{
    CHECK(cudaMemcpy((u8*)after{0}.data() + held{0}, region{0} + at, bytes, cudaMemcpyDefault));
    held{0} += bytes;
  }}
  std::printf("region {0}: %schanged, %016llx\n", after{0} == before{0} ? "un" : "", digest(after{0}.data(), {1}));
)cu",
                       number, region.bytes);
  return fmt::format(R"cu(  CHECK(cudaMemcpy(after{0}.data(), region{0}, {1}, cudaMemcpyDefault));
  std::printf("region {0}: %schanged, %016llx\n", after{0} == before{0} ? "un" : "", digest(after{0}.data(), {1}));
)cu",
                     number, region.bytes);
}

template <class Numbers>
std::string braced(const Numbers& numbers, std::uint32_t count) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i)
    text += fmt::format("{}{}u", i == 0 ? "" : ", ", numbers[i]);
  return "{" + text + "}";
}

std::string map_text(const Map& map, std::size_t number) {
  constexpr std::string_view kTypes[kDataTypes] = {
      "UINT8",   "UINT16",  "UINT32",   "INT32",       "UINT64",   "INT64",       "FLOAT16",
      "FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ"};
  constexpr std::string_view kInterleaves[] = {"NONE", "16B", "32B"};
  constexpr std::string_view kSwizzles[] = {"NONE", "32B", "64B", "128B"};
  constexpr std::string_view kPromotions[] = {"NONE", "L2_64B", "L2_128B", "L2_256B"};
  constexpr std::string_view kFills[] = {"NONE", "NAN_REQUEST_ZERO_FMA"};
  const TensorMapSpec& spec = map.spec;
  if (spec.bulk)
    return fmt::format("  const Range map{} = {{region{} + {}, {}, {}}};\n", number, map.region,
                       kGuardBytes + spec.base_offset, element_bytes(spec.type), tile_bytes(spec));
  const std::uint32_t rank = spec.rank == rank_of(spec) ? spec.rank : kMaxRank;
  if (spec.im2col) {
    const auto corner = [&](const auto& corners) {
      return fmt::format("{{{}}}",
                         fmt::join(corners.begin(), corners.begin() + spatial_of(spec), ", "));
    };
    return fmt::format(
        R"cu(  const cuuint64_t extent{0}[] = {1}, stride{0}[] = {2};
  const int lower{0}[] = {12}, upper{0}[] = {13};
  const cuuint32_t traversal_stride{0}[] = {4};
  CUtensorMap map{0};
  CHECK(cuTensorMapEncodeIm2col(&map{0}, CU_TENSOR_MAP_DATA_TYPE_{5}, {6}, region{7} + {8}, extent{0}, stride{0}, lower{0},
                                upper{0}, {3}, {14}, traversal_stride{0}, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_{9}, CU_TENSOR_MAP_L2_PROMOTION_{10},
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_{11}));
)cu",
        number, braced(spec.extent, rank), braced(spec.stride, std::clamp(rank - 1, 1U, 4U)),
        spec.box[0], braced(spec.element_stride, rank), kTypes[static_cast<std::size_t>(spec.type)],
        spec.rank, map.region, kGuardBytes + spec.base_offset,
        kSwizzles[static_cast<std::size_t>(spec.swizzle)],
        kPromotions[static_cast<std::size_t>(spec.l2_promotion)],
        kFills[static_cast<std::size_t>(spec.fill)], corner(spec.lower_corner),
        corner(spec.upper_corner), spec.box[1]);
  }
  return fmt::format(R"cu(  const cuuint64_t extent{0}[] = {1}, stride{0}[] = {2};
  const cuuint32_t box{0}[] = {3}, element_stride{0}[] = {4};
  CUtensorMap map{0};
  CHECK(cuTensorMapEncodeTiled(&map{0}, CU_TENSOR_MAP_DATA_TYPE_{5}, {6}, region{7} + {8}, extent{0}, stride{0}, box{0},
                               element_stride{0}, CU_TENSOR_MAP_INTERLEAVE_{12}, CU_TENSOR_MAP_SWIZZLE_{9},
                               CU_TENSOR_MAP_L2_PROMOTION_{10}, CU_TENSOR_MAP_FLOAT_OOB_FILL_{11}));
)cu",
                     number, braced(spec.extent, rank),
                     braced(spec.stride, std::clamp(rank - 1, 1U, 4U)), braced(spec.box, rank),
                     braced(spec.element_stride, rank), kTypes[static_cast<std::size_t>(spec.type)],
                     spec.rank, map.region, kGuardBytes + spec.base_offset,
                     kSwizzles[static_cast<std::size_t>(spec.swizzle)],
                     kPromotions[static_cast<std::size_t>(spec.l2_promotion)],
                     kFills[static_cast<std::size_t>(spec.fill)],
                     kInterleaves[static_cast<std::size_t>(spec.interleave)]);
}

std::string launch_text(const Program& program) {
  std::vector<std::string> names;
  const auto maps = static_cast<std::uint8_t>(program.maps.size());
  for (std::uint8_t i = 0; i < maps; ++i) {
    const std::uint8_t place = place_of_map(program, i);
    if (place == kEncoded || place == i)
      names.push_back(fmt::format("{}{}", place == i ? "at_map" : "map", i));
  }
  for (const std::size_t region : regions_read(program))
    names.push_back(fmt::format("region{}", region));
  const std::string arguments = fmt::format("{}", fmt::join(names, ", "));
  std::string text =
      R"cu(  CHECK(cudaFuncSetAttribute(reproduce, cudaFuncAttributeMaxDynamicSharedMemorySize, kWindow + 1023));
)cu";
  if (ctas_of(program) == 1)
    return text +
           fmt::format(
               "  reproduce<<<1, kThreads, kWindow + 1023>>>({});\n  CHECK(cudaGetLastError());\n",
               arguments);
  if (ctas_of(program) > 8)
    text +=
        "  CHECK(cudaFuncSetAttribute(reproduce, cudaFuncAttributeNonPortableClusterSizeAllowed, "
        "1));\n";
  return text +
         fmt::format(R"cu(  cudaLaunchAttribute cluster{{cudaLaunchAttributeClusterDimension}};
  cluster.val.clusterDim = {{{0}}};
  const cudaLaunchConfig_t config{{dim3({0}), kThreads, kWindow + 1023, nullptr, &cluster, 1}};
  CHECK(cudaLaunchKernelEx(&config, reproduce{1}{2}));
)cu",
                     fmt::join(program.cluster, ", "), arguments.empty() ? "" : ", ", arguments);
}

bool leaves_trace(const Step& step) {
  return text_of(step.verb).mark != 0 && (!info_of(step.verb).word || reads_region(step));
}

// Prints what each step left, in the order of the steps.
std::string print_text(const Program& program) {
  std::string prints;
  for (const VerbText& text : verb_texts()) {
    const bool left = std::ranges::any_of(program.steps, [&](const Step& step) {
      return step.verb == text.verb && leaves_trace(step);
    });
    const std::string print = fmt::format("      if (verb == '{}') {}\n", text.mark, text.print);
    if (left && prints.find(print) == std::string::npos) prints += print;  // verbs may share one
  }
  if (prints.empty()) return "";
  constexpr std::string_view kTraces = R"cu(  static Trace left[kSteps][kCtas];
  CHECK(cudaMemcpyFromSymbol(left, trace, sizeof(left)));
)cu";
  constexpr std::string_view kWindows = R"cu(  static u8 copied[kSnapshots][kCtas][kWindow];
  CHECK(cudaMemcpyFromSymbol(copied, windows, sizeof(copied)));
)cu";
  constexpr std::string_view kLoop = R"cu(  for (u32 step = 0; step < kSteps; ++step)
    for (u32 cta = 0; cta < kCtas; ++cta) {
      const auto [verb, seen] = left[step][cta];
      if (verb != 0) std::printf("step %u, CTA %u: ", step, cta);
)cu";
  return fmt::format("{}{}{}{}    }}\n", kTraces, snapshots_of(program) > 0 ? kWindows : "", kLoop,
                     prints);
}

std::string main_text(const Program& program) {
  std::string text = "\nint main() {\n  CHECK(cudaSetDevice(0));\n";
  if (std::ranges::count(program.regions, MemorySource::peer, &Region::source) > 0)
    text += "  CHECK(cudaDeviceEnablePeerAccess(1, 0));  // for memory of GPU 1\n";
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    text += region_text(program.regions[i], i);
  if (std::ranges::count(program.regions, true, &Region::cold) > 0)
    text += R"cu(  u8* flush;
  CHECK(cudaMalloc(&flush, 128 << 20));
  CHECK(cudaMemset(flush, 0x5a, 128 << 20));  // drives the regions out of L2
)cu";
  const auto maps = static_cast<std::uint8_t>(program.maps.size());
  for (std::uint8_t i = 0; i < maps; ++i) {
    const Map& map = program.maps[i];
    if (map.from == kEncoded) text += map_text(map, i);
    if (place_of_map(program, i) != i) continue;
    text += fmt::format("  CUtensorMap* at_map{0};\n  CHECK(cudaMalloc(&at_map{0}, 128));\n", i);
    text +=
        map.from == kEncoded
            ? fmt::format("  CHECK(cudaMemcpy(at_map{0}, &map{0}, 128, cudaMemcpyDefault));\n", i)
            : fmt::format("  CHECK(cudaMemset(at_map{}, 0, 128));\n", i);
  }
  text += launch_text(program) + "  CHECK(cudaDeviceSynchronize());\n" + print_text(program);
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    text += region_print(program.regions[i], i);
  return text;
}

// `text` in lines of at most `columns`: split at white space, and where a word is longer, in it. A
// byte that is not ASCII, which editors may show as something else, becomes a question mark.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::string word;
  const auto end_word = [&] {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns)
      lines.emplace_back();
    if (!lines.back().empty() && !word.empty()) lines.back() += ' ';
    for (; word.size() > columns; word.erase(0, columns)) {
      lines.back() = word.substr(0, columns);
      lines.emplace_back();
    }
    lines.back() += std::exchange(word, "");
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0x7f || byte <= ' ')
      end_word();
    else
      word += byte > 0x7f ? '?' : c;
  }
  end_word();
  return lines;
}

std::string comment(std::string_view text) {
  std::string lines;
  for (const std::string& line : wrapped(text, kColumns - 10)) {
    lines += (lines.empty() ? "// " : "//   ") + line;
    // Else the next line is a part of this one; ??/ is a trigraph of the backslash.
    if (line.ends_with('\\') || line.ends_with("?\?/")) lines += " //";
    lines += '\n';
  }
  return lines;
}

// The text may be that of a report from anywhere, so nothing in it ends the literal. A question
// mark could begin a trigraph.
std::string literal(std::string_view text) {
  std::string escaped;
  for (const char c : text)
    escaped += (c == '"' || c == '\\' || c == '?' ? "\\" : "") + std::string(1, c);
  return "\"" + escaped + "\"";
}

std::string puts_text(std::string_view text) {
  std::vector<std::string> lines = wrapped(text, 95);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) lines[i] += ' ';
  for (std::string& line : lines) line = literal(line);
  return fmt::format("  std::puts({});\n", fmt::join(lines, "\n            "));
}

std::string heading(const Program& program, const ReproducerWords& words) {
  const std::string ctas =
      ctas_of(program) == 1 ? "one CTA" : fmt::format("a cluster of {} CTAs", ctas_of(program));
  return comment(words.title) + comment("Expected: " + words.expected) +
         comment("Seen: " + words.seen) +
         "// Build and run: nvcc -gencode=arch=compute_90a,code=sm_90a FILE.cu -lcuda -o "
         "reproducer && ./reproducer\n" +
         comment(fmt::format(
             "reproduce() takes the steps, in {}; main() prints what observing steps left.", ctas));
}

constexpr std::string_view kIncludes = R"cu(#include <cuda.h>
#include <cstdio>
#include <vector>

using u8 = unsigned char; using u16 = unsigned short; using u32 = unsigned; using u64 = unsigned long long;
)cu";

const std::string kClusterRank = R"cu(
__device__ u32 cluster_rank() { u32 rank; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); return rank; }
)cu";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::string cuda_reproducer(const Program& program, const ReproducerWords& words) {
  if (const std::string why = unsound(program); !why.empty()) throw Error(why);
  const std::string kernel = kernel_text(program), main = main_text(program);
  const DeclarationTexts declared = declarations_for(program, kernel + main);
  std::string code =
      declared.state + declared.instructions + declared.functions + kernel + declared.host + main;
  // In a cluster along x alone, which is the whole grid, blockIdx.x is the rank.
  if (program.cluster[1] > 1 || program.cluster[2] > 1)
    code = kClusterRank + replaced(code, "blockIdx.x", "cluster_rank()");
  return heading(program, words) + std::string(kIncludes) + constants_for(program, code) + code +
         puts_text("expected: " + words.expected) + puts_text("seen before: " + words.seen) + "}\n";
}

}  // namespace tidemark
