// The items that may be declared, and those that a file needs.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "suite/reproducer/reproducer_parts.hpp"

namespace tidemark {
namespace {

/// Where a declaration stands in the file.
enum class Part : std::uint8_t { state, instruction, function, host };
constexpr std::size_t kParts = 4;

/// A declaration. Other texts use it by `name`, which has a bracket where the word alone is in
/// comments, too.
struct Item {
  Part part;
  std::string name, text;
};

std::vector<Item> helpers() {
  return {
      {Part::state, "address(", R"cu(
__device__ u32 address(const volatile void* shared) { return (u32)__cvta_generic_to_shared((const void*)shared); }
)cu"},
      {Part::state, "window()", R"cu(
extern __shared__ u8 memory[];
__device__ u8* window() { return memory + (-address(memory) & 1023); }  // begins on 1024 bytes
)cu"},
      {Part::state, "poison_byte(", R"cu(
__host__ __device__ constexpr u8 poison_byte(u32 i, u32 cta) { return (u8)(0xa5 ^ i ^ i >> 8 ^ kFlip ^ 0x11 * cta); }
)cu"},
      {Part::instruction, "PTX(", R"cu(
#define PTX(name, text) \
  __device__ void name(u32 b, u32 n = 0) { asm volatile(text ::"r"(address(&barriers[b])), "r"(n) : "memory"); }
)cu"},
      {Part::instruction, "PTX_REMOTE(", R"cu(
#define PTX_REMOTE(name, text) __device__ void name(u32 cta, u32 b, u32 n = 0) {             \
    asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %2; " text " }"   \
                 ::"r"(address(&barriers[b])), "r"(n), "r"(cta) : "memory"); }
)cu"},
      {Part::instruction, "PTX_TEST(", R"cu(
#define PTX_TEST(name, text) __device__ bool name(u32 b, u32 parity) {                       \
    u32 complete;                                                                            \
    asm volatile("{ .reg .pred p; " text " selp.u32 %0, 1, 0, p; }"                          \
                 : "=r"(complete) : "r"(address(&barriers[b])), "r"(parity) : "memory");     \
    return complete; }
)cu"},
      {Part::state, "Range", R"cu(
struct Range { u8* memory; u32 size, bytes; };  // of elements of `size` bytes; what one copy takes
)cu"},
      {Part::state, "swizzled(", R"cu(
__device__ u32 swizzled(u32 at, u32 pieces) { return at ^ (at >> 7 & (pieces - 1)) << 4; }  // pieces: of 16 bytes
)cu"},
      {Part::host, "numbers(", R"cu(
u64 numbers(u64 low, u64 high, bool floats) {  // two of 0 to 4095
  const union { float f[2]; u64 bits; } both = {{(float)(low & 4095), (float)(high & 4095)}};
  return floats ? both.bits : (high & 4095) << 32 | (low & 4095);
}
)cu"},
      {Part::host, "integers(", R"cu(
u64 integers(u64 word, u32 bits, u32 exponents, u32 mantissa) {  // small ones in each `bits` of the word, as floats
  u64 numbers = 0;
  for (u32 at = 0; at < 64; at += bits) {
    const int half = bits == 8 ? 4 : 8, value = (int)(word >> at & (2 * half - 1)) - half;
    u64 size = value < 0 ? -value : value, power = 0;
    while (size >> (power + 1)) ++power;
    const u64 bias = (1u << (exponents - 1)) - 1;
    const u64 magnitude = (bias + power) << mantissa | (size << mantissa >> power & ((1u << mantissa) - 1));
    if (value != 0) numbers |= (magnitude | (u64)(value < 0) << (exponents + mantissa)) << at;
  }
  return numbers;
}
)cu"},
      {Part::function, "stop(", R"cu(
__device__ void stop() { delay(1000000), stopped[blockIdx.x] = true; }  // only snapshots and cluster_sync follow
)cu"},
      {Part::host, "digest(", R"cu(
u64 digest(const void* data, u64 bytes) {  // FNV-1a 64
  u64 hash = 0xcbf29ce484222325;
  for (u64 i = 0; i < bytes; ++i) hash = (hash ^ ((const u8*)data)[i]) * 0x100000001b3;
  return hash;
}
)cu"},
      {Part::host, "CHECK(", R"cu(
#define CHECK(call) \
  if (const int code = (int)(call)) return std::printf("%s: %s\n", cudaGetErrorName((cudaError_t)code), #call), 1
)cu"},
      {Part::state, "source_word(", R"cu(
__host__ __device__ constexpr u64 source_word(u64 i) {  // SplitMix64
  u64 x = kSeed + 0x2545f4914f6cdd1d * (i + 1) + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9, x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31 ^ kFlip;
}
)cu"},
      {Part::state, "normal(", R"cu(
__host__ __device__ constexpr u64 normal(u64 pair, u64 mantissa) {  // floats that no rounding or flush to 0 changes
  const u64 exponents = ((pair >> 23 & 0x1ff) % 253 + 1) << 23 | ((pair >> 55) % 253 + 1) << 55;
  return (pair & (0x8000000080000000 | mantissa << 32 | mantissa)) | exponents;
}
)cu"},
  };
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The items that a text uses, directly or through other items. They keep their order, except that
/// an item follows what it uses.
class Declarations {
 public:
  Declarations(std::vector<Item> items, std::string_view user)
      : items_(std::move(items)), needed_(items_.size()), written_(items_.size()) {
    need(user);
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (needed_[i]) write(i);
  }

  const std::string& text(Part part) const { return texts_[static_cast<std::size_t>(part)]; }

 private:
  void need(std::string_view user) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (needed_[i] || !mentions(user, items_[i].name)) continue;
      needed_[i] = true;
      need(items_[i].text);
    }
  }

  void write(std::size_t item) {
    if (written_[item]) return;
    written_[item] = true;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (mentions(items_[item].text, items_[i].name)) write(i);
    std::string& text = texts_[static_cast<std::size_t>(items_[item].part)];
    if (text.empty() && items_[item].part != Part::state) text += '\n';
    text += std::string_view(items_[item].text).substr(1);  // without its leading line break
  }

  std::vector<Item> items_;
  std::vector<bool> needed_, written_;
  std::string texts_[kParts];
};

bool can_stop(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& step) {
    return step.verb == Verb::meter || (step.verb == Verb::wait && step.stops);
  });
}

// "name = value" of each of `constants` that `user` names.
std::string named(std::initializer_list<std::pair<std::string_view, std::string>> constants,
                  std::string_view user) {
  std::string text;
  for (const auto& [name, value] : constants)
    if (mentions(user, name))
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::vector<Item> state(const Program& program) {
  std::string barriers;
  for (std::uint32_t i = 0; i < program.barriers; ++i) barriers += fmt::format("bar{}, ", i);
  return {
      {Part::state, "trace", R"cu(
__device__ struct Trace { char verb; u64 seen; } trace[kSteps][kCtas];  // of the steps that observe
)cu"},
      {Part::state, "windows", R"cu(
__device__ uint4 windows[kSnapshots][kCtas][kWindow / 16];  // the snapshots
)cu"},
      {Part::state, "stopped", "\n__device__ bool stopped[kCtas];\n"},
      {Part::state, "barriers[",
       fmt::format(
           "\nenum : u32 {{ {}kBarriers }};\n__shared__ volatile u64 barriers[kBarriers];\n",
           barriers)},
      {Part::state, "phase[", R"cu(
__shared__ u32 phase[kBarriers];  // parity of the phase that each barrier is in
)cu"},
  };
}

// What depends on whether `policy` names a cache policy: the end of a copy's name, its modifier,
// and its last operand.
std::string suffix_of(std::string_view policy) {
  return policy.empty() ? "" : fmt::format("_{}", policy);
}
std::string_view hint_of(std::string_view policy) {
  return policy.empty() ? "" : ".L2::cache_hint";
}
std::string_view end_of(std::string_view policy) { return policy.empty() ? ";" : ", policy; }"; }

// The instruction that makes a cache policy, where `policy` names one. It goes in front of a copy.
std::string create_policy(std::string_view policy) {
  if (policy.empty()) return "";
  return fmt::format(
      "{{ .reg .b64 policy; createpolicy.fractional.L2::{}.b64 policy, 1.0;\"\n               \" ",
      policy);
}

// The load of `rank`, multicast or not, by an im2col map or not, with the cache policy that
// `policy` names if it names one.
Item load_item(std::uint32_t rank, std::string_view policy, bool multicast, bool im2col) {
  const std::string name = fmt::format("{}_{}{}d{}", multicast ? "multicast" : "load",
                                       im2col ? "im2col_" : "", rank, suffix_of(policy));
  const std::uint32_t offsets = im2col ? rank - 2 : 0;
  std::string end;
  for (std::uint32_t i = 0; i < offsets; ++i)
    end += fmt::format("{}%{}{}", i == 0 ? "\"\n               \", {" : ", ", rank + 3 + i,
                       i + 1 == offsets ? "}" : "");
  if (multicast) end += fmt::format(", %{}", rank + offsets + 3);
  end += end_of(policy);
  std::string parameters, coordinates, operands = rank > 2 ? ",\n                " : ",";
  for (std::uint32_t i = 0; i < rank; ++i) {
    const std::string_view comma = i == 0 ? "" : ",";
    parameters += fmt::format("{}int c{}", i == 0 && im2col ? ",\n    " : ", ", i);
    coordinates += fmt::format("{}{}%{}", comma, i == 0 ? "" : " ", i + 3);
    operands += fmt::format("{} \"r\"(c{})", comma, i);
  }
  for (std::uint32_t i = 0; i < offsets; ++i) {
    parameters += fmt::format(", u16 o{}", i);
    operands += fmt::format(", \"h\"(o{})", i);
  }
  if (multicast) parameters += ", u16 mask", operands += ", \"h\"(mask)";
  return {Part::function, name + "(",
          fmt::format(R"cu(
__device__ void {}(u32 to, const CUtensorMap* map, u32 b{}) {{
  asm volatile("{}cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::complete_tx::bytes"
               "{}{} [%0], [%1, {{{}}}], [%2]{}"
               ::"r"(address(window() + to)), "l"(map), "r"(address(&barriers[b])){} : "memory");
}}
)cu",
                      name, parameters, create_policy(policy), rank, im2col ? "im2col" : "tile",
                      multicast ? ".multicast::cluster" : "", hint_of(policy), coordinates, end,
                      operands)};
}

// The store of `rank`, or the reduction that `store` names, by an im2col map or not, with the cache
// policy that `policy` names if it names one.
Item store_item(std::uint32_t rank, std::string_view policy, std::string_view store, bool im2col) {
  const std::string name =
      fmt::format("{}_{}{}d{}", store, im2col ? "im2col_" : "", rank, suffix_of(policy));
  const bool reduces = store.starts_with(kReduce);
  const std::string operation =
      reduces ? fmt::format(".{}", store.substr(kReduce.size())) : std::string();
  std::string parameters, coordinates, operands;
  for (std::uint32_t i = 0; i < rank; ++i) {
    parameters += fmt::format("{}int c{}", i == 0 && im2col ? ",\n    " : ", ", i);
    coordinates += fmt::format("{}%{}", i == 0 ? "" : ", ", i + 2);
    operands += fmt::format(", \"r\"(c{})", i);
  }
  return {Part::function, name + "(",
          fmt::format(R"cu(
__device__ void {}(u32 from, const CUtensorMap* map{}) {{
  asm volatile("{}cp{}.async.bulk.tensor.{}d.global.shared::cta{}.{}.bulk_group"
               "{} [%0, {{{}}}], [%1]{}"
               ::"l"(map), "r"(address(window() + from)){} : "memory");
}}
)cu",
                      name, parameters, create_policy(policy), reduces ? ".reduce" : "", rank,
                      operation, im2col ? "im2col_no_offs" : "tile", hint_of(policy), coordinates,
                      end_of(policy), operands)};
}

// Copies of consecutive bytes, by their address.
Item bulk_load_item(std::string_view policy, bool multicast) {
  const std::string name =
      fmt::format("{}_bulk{}", multicast ? "multicast" : "load", suffix_of(policy));
  return {Part::function, name + "(",
          fmt::format(R"cu(
__device__ void {}(u32 to, const Range* map, u32 b, int first{}) {{
  asm volatile("{}cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{}{}"
               " [%0], [%1], %2, [%3]{}{}"
               ::"r"(address(window() + to)), "l"(map->memory + first * (long long)map->size), "r"(map->bytes),
                "r"(address(&barriers[b])){} : "memory");
}}
)cu",
                      name, multicast ? ", u16 mask" : "", create_policy(policy),
                      multicast ? ".multicast::cluster" : "", hint_of(policy),
                      multicast ? ", %4" : "", end_of(policy), multicast ? ", \"h\"(mask)" : "")};
}

Item bulk_store_item(std::string_view policy) {
  return {Part::function, fmt::format("store_bulk{}(", suffix_of(policy)),
          fmt::format(R"cu(
__device__ void store_bulk{}(u32 from, const Range* map, int first) {{
  asm volatile("{}cp.async.bulk.global.shared::cta.bulk_group{} [%0], [%1], %2{}"
               ::"l"(map->memory + first * (long long)map->size),
                "r"(address(window() + from)), "r"(map->bytes) : "memory");
}}
)cu",
                      suffix_of(policy), create_policy(policy), hint_of(policy), end_of(policy))};
}

Item bulk_reduce_item(std::string_view store, DataType type) {
  const std::string_view operation = store.substr(kReduce.size());
  const bool bits = operation == "and" || operation == "or" || operation == "xor";
  const bool half_sum = operation == "add" && element_bytes(type) == 2;
  const std::string name = fmt::format("{}_bulk_{}", store, name_of(type));
  return {Part::function, name + "(",
          fmt::format(R"cu(
__device__ void {}(u32 from, const Range* map, int first) {{
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.{}{}.{} [%0], [%1], %2;"
               ::"l"(map->memory + first * (long long)map->size),
                "r"(address(window() + from)), "r"(map->bytes) : "memory");
}}
)cu",
                      name, operation, half_sum ? ".noftz" : "",
                      bits ? fmt::format("b{}", 8 * element_bytes(type)) : name_of(type))};
}

constexpr std::string_view kPrefetchIm2col = R"cu(
template <int kRank>
__device__ void prefetch_im2col(const CUtensorMap* map, int c0, int c1, int c2, int c3, int c4 = 0, int c5 = 0,
                                int c6 = 0, int c7 = 0) {  // kRank coordinates, and then the offsets
#define PREFETCH_IM2COL(rank, at, further, ...) if (kRank == rank) \
    asm volatile("cp.async.bulk.prefetch.tensor." #rank "d.L2.global.im2col [%0, {" at "}], {" further "};" \
                 ::"l"(map), __VA_ARGS__ : "memory")
  PREFETCH_IM2COL(3, "%1, %2, %3", "%4", "r"(c0), "r"(c1), "r"(c2), "h"((u16)c3));
  PREFETCH_IM2COL(4, "%1, %2, %3, %4", "%5, %6", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "h"((u16)c4), "h"((u16)c5));
  PREFETCH_IM2COL(5, "%1, %2, %3, %4, %5", "%6, %7, %8", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "h"((u16)c5),
                  "h"((u16)c6), "h"((u16)c7));
}
)cu";
// To the window of another CTA: first addresses of place and barrier there.
constexpr std::string_view kMapPlaceAndBarrier =
    R"("{ .reg .b32 place, told; mapa.shared::cluster.u32 place, %0, %2; mapa.shared::cluster.u32 told, %1, %2;")";

Item async_store_item(std::uint32_t elements, std::uint32_t size) {
  const std::string vector = elements > 1 ? fmt::format("v{}_", elements) : "";
  const std::string form =
      fmt::format("{}b{}", elements > 1 ? fmt::format("v{}.", elements) : "", 8 * size);
  std::string parameters, operands, numbers;
  for (std::uint32_t i = 0; i < elements; ++i) {
    parameters += fmt::format(", u{} x{}", 8 * size, i);
    operands += fmt::format(", \"{}\"(x{})", size == 8 ? "l" : "r", i);
    numbers += fmt::format("{}%{}", i == 0 ? "" : ", ", i + 3);
  }
  const std::string name = fmt::format("st_async_{}b{}", vector, 8 * size);
  return {Part::function, name + "(",
          fmt::format(R"cu(
__device__ void {}(u32 cta, u32 to, u32 b{}) {{
  asm volatile({}
               " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{} [place], {}, [told]; }}"
               ::"r"(address(window() + to)), "r"(address(&barriers[b])), "r"(cta){}
               : "memory");
}}
)cu",
                      name, parameters, kMapPlaceAndBarrier, form,
                      elements > 1 ? "{" + numbers + "}" : numbers, operands)};
}

Item async_reduce_item(Reduction reduction, DataType type) {
  const bool wide = element_bytes(type) == 8;
  const std::string_view operation = operation_of(reduction);
  const std::string element = ptx_type(reduction, type);
  const std::string name = fmt::format("red_async_{}_{}", operation, element);
  return {
      Part::function, name + "(",
      fmt::format(R"cu(
__device__ void {}(u32 cta, u32 to, u32 b, u{} x) {{
  asm volatile({}
               " red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{}.{} [place], %3, [told]; }}"
               ::"r"(address(window() + to)), "r"(address(&barriers[b])), "r"(cta), "{}"(x) : "memory");
}}
)cu",
                  name, wide ? 64 : 32, kMapPlaceAndBarrier, operation, element, wide ? "l" : "r")};
}

Item send_reduce_item(Reduction reduction, DataType type) {
  const std::string_view operation = operation_of(reduction);
  const std::string element = ptx_type(reduction, type);
  const std::string name = fmt::format("send_{}_{}", operation, element);
  return {Part::function, name + "(",
          fmt::format(R"cu(
__device__ void {}(u32 cta, u32 from, u32 to, u32 bytes, u32 b) {{
  asm volatile({}
               " cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{}.{}"
               " [place], [%3], %4, [told]; }}"
               ::"r"(address(window() + to)), "r"(address(&barriers[b])), "r"(cta),
                "r"(address(window() + from)), "r"(bytes) : "memory");
}}
)cu",
                      name, kMapPlaceAndBarrier, operation, element)};
}

// The words of an operand's matrix descriptor that do not change with the step, and how its start
// address does: inside a span by 32 bytes, from there on by a box; MN-major by rows of K.
std::string descriptor_in_code(const Wgmma& product, GemmOperand which) {
  constexpr std::uint64_t kModes[] = {0, 3, 2, 1};
  const MatrixDescriptor first = descriptor(product, which, 0, 0);
  const WgmmaOperand& operand = operand_of(product, which);
  const std::uint64_t word = std::uint64_t{first.leading >> 4} << 16 |
                             std::uint64_t{first.stride >> 4} << 32 |
                             std::uint64_t{first.base_offset} << 49 |
                             kModes[static_cast<std::size_t>(first.swizzle)] << 62;
  const std::uint32_t span = span_bytes(operand.swizzle);
  const std::string moved = operand.major == Major::mn
                                ? fmt::format("step * {}", step_elements(product.type) * span)
                                : fmt::format("step * {0} / {1} * {2} + step * {0} % {1}",
                                              kStepBytes, span, box_bytes(product, which));
  return fmt::format("{:#x} | (start + {} + {} & 0x3ffff) >> 4", word, operand.offset, moved);
}

// All steps of a product. The registers of a warpgroup hold C as PTX ISA 9.0, 9.7.15.5.1.1 says.
Item product_item(const Program& program, std::size_t number) {
  const Wgmma& product = program.products[number];
  const bool whole = is_integer(product.type), half = element_bytes(product.type) == 2;
  const std::string immediates = fmt::format(
      "{}{}", whole ? "" : ", 1, 1",
      half ? fmt::format(", {:d}, {:d}", product.a.major == Major::mn, product.b.major == Major::mn)
           : "");
  const std::uint32_t held = product.n / 2;
  std::string registers, operands;
  for (std::uint32_t i = 0; i < held; ++i) {
    const std::string_view comma = i == 0 ? "" : i % 16 == 0 ? ",\n" : ",";
    registers += fmt::format("{}%{}", comma, i);
    operands += fmt::format("{}D({})", comma, i);
  }
  return {Part::function, fmt::format("wgmma_{}(", number),
          fmt::format(R"cu(
#define D(i) "+r"(d[i])
__device__ void wgmma_{number}(u32 to) {{  // m64n{n}k{depth} of {type}
  u32 d[{held}], start = address(window());
  for (u32& sum : d) sum = {stale:#x};  // the first step must not add to it
#pragma unroll 1
  for (u32 step = 0; step < {steps}; ++step) {{
    const u64 a = {a};
    const u64 b = {b};
    asm volatile(R"({{ .reg .pred p; setp.ne.b32 p, %{at_step}, 0; wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n{n}k{depth}.{sum}.{type}.{type}
{{{registers}}}, %{held}, %{at_b}, p{immediates};
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }})"
                 : {operands}
                 : "l"(a), "l"(b), "r"(step) : "memory");
  }}
  const u32 t = threadIdx.x % 128;
  u32* const c = (u32*)(window() + to) + (t / 32 * 16 + t % 32 / 4) * {n} + t % 4 * 2;
#pragma unroll
  for (u32 i = 0; i < {held}; ++i) c[i % 2 + i / 2 % 2 * 8 * {n} + i / 4 * 8] = d[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}}
)cu",
                      fmt::arg("number", number), fmt::arg("n", product.n),
                      fmt::arg("depth", step_elements(product.type)),
                      fmt::arg("type", name_of(product.type)), fmt::arg("held", held),
                      fmt::arg("stale", kStaleAccumulator), fmt::arg("steps", step_count(product)),
                      fmt::arg("a", descriptor_in_code(product, GemmOperand::a)),
                      fmt::arg("b", descriptor_in_code(product, GemmOperand::b)),
                      fmt::arg("at_b", held + 1), fmt::arg("at_step", held + 2),
                      fmt::arg("sum", whole ? "s32" : "f32"), fmt::arg("registers", registers),
                      fmt::arg("operands", operands), fmt::arg("immediates", immediates))};
}

Item next_item(bool stops) {
  return {Part::function, "next(",
          fmt::format(R"cu(
__device__ bool next(bool taker = true) {{ return __syncthreads(), taker{}; }}  // ends a step
)cu",
                      stops ? " && !stopped[blockIdx.x]" : "")};
}

Item try_wait_item(const Program& program) {
  return {Part::instruction, "try_wait(",
          fmt::format(R"cu(
PTX_TEST(try_wait, "mbarrier.try_wait.parity.acquire.{}.shared::cta.b64 p, [%1], %2, 20000;")
)cu",
                      ctas_of(program) > 1 ? "cluster" : "cta")};
}

// A text without the lines that have `part`.
std::string without_lines(std::string_view text, std::string_view part) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.find(part) == std::string_view::npos) kept += line;
    text.remove_prefix(line.size());
  }
  return kept;
}

std::string without(std::string text, std::string_view part) {
  if (const auto at = text.find(part); at != std::string::npos) text.erase(at, part.size());
  return text;
}

std::vector<Item> items_of(const Program& program) {
  const bool stops = can_stop(program), phases = keeps_phases(program);
  std::vector<Item> items = state(program);
  std::ranges::move(helpers(), std::back_inserter(items));
  for (const VerbText& text : verb_texts())
    for (const bool remote : {false, true}) {
      const std::string_view function = remote ? text.remote_function : text.function;
      const bool is_template = function.starts_with("\ntemplate");
      const bool is_macro = function.starts_with("\nPTX") || function.starts_with("\n#define");
      items.push_back({is_macro ? Part::instruction : Part::function,
                       fmt::format("{}{}{}", name_of(text.verb), remote ? "_remote" : "",
                                   is_template ? '<' : '('),
                       std::string(function)});
    }
  items.push_back({Part::function, "prefetch_im2col<", std::string(kPrefetchIm2col)});
  items.push_back(try_wait_item(program));
  items.push_back(next_item(stops));
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (const std::string_view policy : kPolicies) {
      for (const bool multicast : {false, true})
        for (const bool im2col : {false, true})
          if (!im2col || rank >= 3) items.push_back(load_item(rank, policy, multicast, im2col));
      for (const std::string_view name : kStoreNames)
        for (const bool im2col : {false, true})
          items.push_back(store_item(rank, policy, name, im2col));
    }
  for (const std::string_view policy : kPolicies) {
    for (const bool multicast : {false, true}) items.push_back(bulk_load_item(policy, multicast));
    items.push_back(bulk_store_item(policy));
  }
  for (std::uint32_t i = 0; i < kDataTypes; ++i)
    for (const std::string_view name : kStoreNames)
      if (name.starts_with(kReduce))
        items.push_back(bulk_reduce_item(name, static_cast<DataType>(i)));
  for (const std::uint32_t size : {4U, 8U})
    for (std::uint32_t elements = 1; elements * size <= 16; elements *= 2)
      items.push_back(async_store_item(elements, size));
  for (std::uint32_t i = 0; i < kDataTypes; ++i)
    for (std::uint32_t j = 0; j < kReductions; ++j) {
      const auto reduction = static_cast<Reduction>(j);
      const auto type = static_cast<DataType>(i);
      if (!reduces_in_shared(reduction, type)) continue;
      items.push_back(async_reduce_item(reduction, type));
      items.push_back(send_reduce_item(reduction, type));
    }
  for (std::size_t i = 0; i < program.products.size(); ++i)
    items.push_back(product_item(program, i));
  for (Item& item : items) {
    if (!phases) item.text = without_lines(item.text, "phase[");
    if (!stops) item.text = without(without_lines(item.text, " stop("), ", bool stops = false");
  }
  return items;
}

}  // namespace

DeclarationTexts declarations_for(const Program& program, std::string_view user) {
  const Declarations needed(items_of(program), user);
  return {.state = needed.text(Part::state),
          .instructions = needed.text(Part::instruction),
          .functions = needed.text(Part::function),
          .host = needed.text(Part::host)};
}

std::string constants_for(const Program& program, std::string_view user) {
  const std::uint32_t window = std::max(program.window, 16U);  // no array of the file is empty
  const std::string sizes = named({{"kThreads", fmt::format("{}", kProgramThreads)},
                                   {"kCtas", fmt::format("{}", ctas_of(program))},
                                   {"kSteps", fmt::format("{}", program.steps.size())},
                                   {"kSnapshots", fmt::format("{}", snapshots_of(program))},
                                   {"kWindow", fmt::format("{}", window)}},
                                  user);
  const std::string payload = named({{"kSeed", fmt::format("{:#x}", program.payload.seed)},
                                     {"kFlip", program.payload.inverted ? "~0" : "0"}},
                                    user);
  const std::string line =
      payload.empty()
          ? ""
          : fmt::format("constexpr u64 {};  // kFlip: ~0 inverts sources and poison\n", payload);
  return fmt::format("constexpr u32 {};\n{}", sizes, line);
}

bool mentions(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    const bool ends =
        !is_word_character(name.back()) || end == text.size() || !is_word_character(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

bool keeps_phases(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& step) {
    return text_of(step.verb).call.find("{parity}") != std::string_view::npos &&
           step.parity >= kCurrentPhase;
  });
}

std::size_t snapshots_of(const Program& program) {
  return static_cast<std::size_t>(std::ranges::count(program.steps, Verb::snapshot, &Step::verb));
}

}  // namespace tidemark
