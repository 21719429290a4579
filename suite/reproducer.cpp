// Writes a program as CUDA C++ from texts: kVerbTexts has an entry for each verb, and an Item is a
// declaration. An Item is left out of the file unless another text uses it.
#include "suite/reproducer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark::suite {
namespace {

constexpr std::size_t kColumns = 120;
constexpr std::size_t kCodeColumns = 68;  // of a step, before the comment beside it

/// The threads of a CTA that make the call of a step.
enum class Takers : std::uint8_t { one, arrivals, all, all_even_stopped };

/// The texts of a verb. Comment and calls have the fields of formatted().
struct VerbText {
  Verb verb;
  Takers takers = Takers::one;
  std::string_view name, comment, call;
  std::string_view remote_call{};                  // where Step::of names a CTA
  std::string_view function{}, remote_function{};  // `name` and `name`_remote
  char mark = 0;             // of the verb in the trace; 0: it leaves nothing there
  std::string_view print{};  // prints `seen`, what a step left there
};

constexpr VerbText kVerbTexts[] = {
    {.verb = Verb::init,
     .name = "init",
     .comment = "initialize barrier {barrier} with count {count}",
     .call = "init(bar{barrier}, {count}){reset};",
     .function = R"cu(
PTX(init, "mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;")
)cu"},
    {.verb = Verb::inval,
     .name = "inval",
     .comment = "invalidate barrier {barrier}",
     .call = "inval(bar{barrier});",
     .function = R"cu(
PTX(inval, "mbarrier.inval.shared::cta.b64 [%0];")
)cu"},
    {.verb = Verb::arrive,
     .takers = Takers::arrivals,
     .name = "arrive",
     .comment = "arrive on barrier {barrier}{of_cta}{arrivals}",
     .call = "arrive(bar{barrier});",
     .remote_call = "arrive_remote({of}, bar{barrier});",
     .function = R"cu(
PTX(arrive, "mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];")
)cu",
     .remote_function = R"cu(
PTX_REMOTE(arrive_remote, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];")
)cu"},
    {.verb = Verb::expect_tx,
     .name = "expect_tx",
     .comment = "expect {bytes} bytes on barrier {barrier}{of_cta}",
     .call = "expect_tx(bar{barrier}, {bytes});",
     .remote_call = "expect_tx_remote({of}, bar{barrier}, {bytes});",
     .function = R"cu(
PTX(expect_tx, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;")
)cu",
     .remote_function = R"cu(
PTX_REMOTE(expect_tx_remote, "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [remote], %1;")
)cu"},
    {.verb = Verb::arrive_expect_tx,
     .name = "arrive_expect_tx",
     .comment = "arrive, expect {bytes}: barrier {barrier}{of_cta}",
     .call = "arrive_expect_tx(bar{barrier}, {bytes});",
     .remote_call = "arrive_expect_tx_remote({of}, bar{barrier}, {bytes});",
     .function = R"cu(
PTX(arrive_expect_tx, "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;")
)cu",
     .remote_function = R"cu(
PTX_REMOTE(arrive_expect_tx_remote, "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [remote], %1;")
)cu"},
    {.verb = Verb::complete_tx,
     .name = "complete_tx",
     .comment = "complete {bytes} bytes on barrier {barrier}",
     .call = "complete_tx(bar{barrier}, {bytes});",
     .function = R"cu(
PTX(complete_tx, "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;")
)cu"},
    {.verb = Verb::test,
     .name = "test",
     .comment = "test barrier {barrier}, {phase}",
     .call = "trace[{step}][cta] = {{'t', test(bar{barrier}, {parity})}};",
     .function = R"cu(
PTX_TEST(test, "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;")
)cu",
     .mark = 't',
     .print = R"cu(std::printf("test %llu\n", seen);)cu"},
    {.verb = Verb::wait,
     .takers = Takers::all,
     .name = "wait",
     .comment = "wait{or_stop}, barrier {barrier}, {phase}",
     .call = "wait({step}, bar{barrier}, {parity}, {ns}{stops});",
     .function = R"cu(
__device__ void wait(u32 step, u32 barrier, u32 parity, u64 ns, bool stops = false) {  // by all threads
  const long long end = clock64() + 2 * ns;  // Hopper GPUs clock below 2 GHz
  bool complete;
  do complete = try_wait(barrier, parity); while (!complete && clock64() < end);
  complete = __syncthreads_and(complete);
  if (threadIdx.x != 0) return;
  trace[step][blockIdx.x] = {'w', complete};
  if (complete) phase[barrier] = parity ^ 1;
  if (!complete && stops) stop();
}
)cu",
     .mark = 'w',
     .print = R"cu(std::printf("wait %llu\n", seen);)cu"},
    {.verb = Verb::meter,
     .name = "meter",
     .comment = "meter barrier {barrier}",
     .call = "meter({step}, bar{barrier}, {parity}, {pending}, {count}, {bytes}, {stride}, "
             "{most});",
     .function = R"cu(
// Ends the phase of `parity`, or the next where that is complete. Residue: bytes expected less bytes completed so far.
__device__ void meter(u32 step, u32 barrier, u32 parity, u32 pending, u32 count, u32 bytes, u32 stride, u32 most) {
  const bool complete = test(barrier, parity);
  u32 residue = 0, ending = parity ^ complete;
  for (u32 i = complete ? count : pending; i > 0; --i) arrive(barrier);
  bool settled = test(barrier, ending);
  if (!settled) {
    if (bytes > 0) expect_tx(barrier, bytes);
    if (stride > 0) complete_tx(barrier, stride);
    for (residue = stride - bytes; !(settled = test(barrier, ending)) && most-- > 0; ++residue) complete_tx(barrier, 1);
  }
  trace[step][blockIdx.x] = {'m', complete | settled << 1 | (u64)residue << 32};
  if (settled) phase[barrier] = ending ^ 1;
  if (!settled) stop();
}
)cu",
     .mark = 'm',
     .print = R"cu(std::printf("complete %llu settled %llu residue %d\n", )cu"
              "seen & 1, seen / 2 & 1, int(seen >> 32));"},
    {.verb = Verb::load,
     .name = "load",
     .comment = "load box {{{box}}} of map {map}",
     .call = "load_{rank}d{policy}({offset}, &map{map}, bar{barrier}, {box});"},
    {.verb = Verb::cluster_sync,
     .takers = Takers::all_even_stopped,
     .name = "cluster_sync",
     .comment = "all CTAs meet",
     .call = "cluster_sync();",
     .function = R"cu(
#define cluster_sync() asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory")
)cu"},
    {.verb = Verb::delay,
     .name = "delay",
     .comment = "{time} go by",
     .call = "delay({ns});",
     .function = R"cu(
__device__ void delay(u64 ns) { for (const long long end = clock64() + 2 * ns; clock64() < end;) __nanosleep(200); }
)cu"},
    {.verb = Verb::poison,
     .takers = Takers::all,
     .name = "poison",
     .comment = "poison bytes {offset} to {end} of the window",
     .call = "poison({offset}, {bytes});",
     .function = R"cu(
__device__ void poison(u32 offset, u32 bytes) {
  for (u32 i = offset + threadIdx.x; i < offset + bytes; i += kThreads) window()[i] = poison_byte(i);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)cu"},
    {.verb = Verb::write,
     .name = "write",
     .comment = "write to the 8 bytes of barrier {barrier}",
     .call = "barriers[bar{barrier}] = {word:#x};"},
    {.verb = Verb::read,
     .name = "read",
     .comment = "read the 8 bytes of barrier {barrier}",
     .call = "trace[{step}][cta] = {{'r', barriers[bar{barrier}]}};",
     .mark = 'r',
     .print = R"cu(std::printf("read 0x%016llx\n", seen);)cu"},
    {.verb = Verb::missing,
     .takers = Takers::all,
     .name = "missing",
     .comment = "count 16-byte pieces that are poison",
     .call = "missing({step}, {offset}, {bytes});",
     .function = R"cu(
__device__ void missing(u32 step, u32 offset, u32 bytes) {
  for (u32 at = offset + 16 * threadIdx.x; at < offset + bytes; at += 16 * kThreads) {
    bool poisoned = true;
    for (u32 i = at; i < at + 16; ++i) poisoned &= window()[i] == poison_byte(i);
    if (poisoned) atomicAdd(&trace[step][blockIdx.x].seen, 1);
  }
  if (threadIdx.x == 0) trace[step][blockIdx.x].verb = 'p';
}
)cu",
     .mark = 'p',
     .print = R"cu(std::printf("%llu pieces of poison\n", seen);)cu"},
    {.verb = Verb::snapshot,
     .takers = Takers::all_even_stopped,
     .name = "snapshot",
     .comment = "copy the window out",
     .call = "snapshot({step}, {snapshot});",
     .function = R"cu(
__device__ void snapshot(u32 step, u32 number) {
  __syncthreads();
  for (u32 i = threadIdx.x; i < kWindow / 16; i += kThreads) windows[number][blockIdx.x][i] = ((uint4*)window())[i];
  if (threadIdx.x == 0) trace[step][blockIdx.x] = {'s', number};
}
)cu",
     .mark = 's',
     .print = R"cu({
        u64 digest = 0xcbf29ce484222325;  // FNV-1a 64
        for (const u8 byte : copied[seen][cta]) digest = (digest ^ byte) * 0x100000001b3;
        std::printf("window %016llx\n", digest);
      })cu"},
};

static_assert(std::size(kVerbTexts) == kVerbs);

const VerbText& text_of(Verb verb) { return *std::ranges::find(kVerbTexts, verb, &VerbText::verb); }

/// In the order of CacheHint.
constexpr std::string_view kPolicies[] = {"", "evict_normal", "evict_first", "evict_last"};

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
__host__ __device__ constexpr u8 poison_byte(u32 i) { return (u8)(0xa5 ^ i ^ i >> 8 ^ kFlip); }
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
      {Part::function, "stop(", R"cu(
__device__ void stop() { delay(1000000), stopped[blockIdx.x] = true; }  // only snapshots and cluster_sync follow
)cu"},
      {Part::host, "CHECK(", R"cu(
#define CHECK(call) \
  if (const int code = (int)(call)) return std::printf("%s: %s\n", cudaGetErrorName((cudaError_t)code), #call), 1
)cu"},
      {Part::host, "source_word(", R"cu(
constexpr u64 source_word(u64 i) {  // SplitMix64
  u64 x = kSeed + 0x2545f4914f6cdd1d * (i + 1) + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9, x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31 ^ kFlip;
}
)cu"},
      {Part::host, "normal(", R"cu(
constexpr u64 normal(u64 pair, u64 mantissa) {  // two floats that no rounding or flush to zero changes
  const u64 exponents = ((pair >> 23 & 0x1ff) % 253 + 1) << 23 | ((pair >> 55) % 253 + 1) << 55;
  return (pair & (0x8000000080000000 | mantissa << 32 | mantissa)) | exponents;
}
)cu"},
  };
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether `text` has `name`, and not as a part of a longer word.
bool names(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    const bool ends =
        !is_word_character(name.back()) || end == text.size() || !is_word_character(text[end]);
    if (begins && ends) return true;
  }
  return false;
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
      if (needed_[i] || !names(user, items_[i].name)) continue;
      needed_[i] = true;
      need(items_[i].text);
    }
  }

  void write(std::size_t item) {
    if (written_[item]) return;
    written_[item] = true;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (names(items_[item].text, items_[i].name)) write(i);
    std::string& text = texts_[static_cast<std::size_t>(items_[item].part)];
    if (text.empty() && items_[item].part != Part::state) text = "\n";
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

bool keeps_phases(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& step) {
    return text_of(step.verb).call.find("{parity}") != std::string_view::npos &&
           step.parity >= kCurrentPhase;
  });
}

std::uint16_t all_ctas(const Program& program) {
  return static_cast<std::uint16_t>((1U << program.ctas) - 1);
}

std::size_t snapshots_of(const Program& program) {
  return static_cast<std::size_t>(std::ranges::count(program.steps, Verb::snapshot, &Step::verb));
}

// At least 16 bytes: no array of the file is empty.
std::uint32_t window_of(const Program& program) { return std::max(program.window, 16U); }

// "name = value" of each of `constants` that `user` names.
std::string named(std::initializer_list<std::pair<std::string_view, std::string>> constants,
                  std::string_view user) {
  std::string text;
  for (const auto& [name, value] : constants)
    if (names(user, name)) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

// Those that `user`, the rest of the file, names.
std::string constants(const Program& program, std::string_view user) {
  const std::string sizes = named({{"kThreads", fmt::format("{}", kProgramThreads)},
                                   {"kCtas", fmt::format("{}", program.ctas)},
                                   {"kSteps", fmt::format("{}", program.steps.size())},
                                   {"kSnapshots", fmt::format("{}", snapshots_of(program))},
                                   {"kWindow", fmt::format("{}", window_of(program))}},
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

// The load of `rank`, with the cache policy that `policy` names if it names one.
Item load_item(std::uint32_t rank, std::string_view policy) {
  std::string name = fmt::format("load_{}d", rank), create, hint, end = ";";
  if (!policy.empty()) {
    name += fmt::format("_{}", policy);
    create = fmt::format(
        "{{ .reg .b64 policy; createpolicy.fractional.L2::{}.b64 policy, 1.0;\"\n               "
        "\" ",
        policy);
    hint = ".L2::cache_hint";
    end = ", policy; }";
  }
  std::string parameters, coordinates, operands = rank > 2 ? ",\n                " : ",";
  for (std::uint32_t i = 0; i < rank; ++i) {
    const std::string_view comma = i == 0 ? "" : ",";
    parameters += fmt::format(", int c{}", i);
    coordinates += fmt::format("{}{}%{}", comma, i == 0 ? "" : " ", i + 3);
    operands += fmt::format("{} \"r\"(c{})", comma, i);
  }
  return {Part::function, name + "(",
          fmt::format(R"cu(
__device__ void {}(u32 to, const CUtensorMap* map, u32 b{}) {{
  asm volatile("{}cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               "{} [%0], [%1, {{{}}}], [%2]{}"
               ::"r"(address(window() + to)), "l"(map), "r"(address(&barriers[b])){} : "memory");
}}
)cu",
                      name, parameters, create, rank, hint, coordinates, end, operands)};
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
                      program.ctas > 1 ? "cluster" : "cta")};
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
  for (const VerbText& text : kVerbTexts)
    for (const bool remote : {false, true}) {
      const std::string_view function = remote ? text.remote_function : text.function;
      const bool is_macro = function.starts_with("\nPTX") || function.starts_with("\n#define");
      items.push_back({is_macro ? Part::instruction : Part::function,
                       fmt::format("{}{}(", text.name, remote ? "_remote" : ""),
                       std::string(function)});
    }
  items.push_back(try_wait_item(program));
  items.push_back(next_item(stops));
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (const std::string_view policy : kPolicies) items.push_back(load_item(rank, policy));
  for (Item& item : items) {
    if (!phases) item.text = without_lines(item.text, "phase[");
    if (!stops) item.text = without(without_lines(item.text, " stop("), ", bool stops = false");
  }
  return items;
}

std::string time_in_words(std::uint32_t ns) {
  if (ns != 0 && ns % 1'000'000 == 0) return fmt::format("{} ms", ns / 1'000'000);
  if (ns != 0 && ns % 1'000 == 0) return fmt::format("{} us", ns / 1'000);
  return fmt::format("{} ns", ns);
}

std::string phase_in_words(std::uint8_t parity) {
  if (parity == kCurrentPhase) return "this phase";
  if (parity == kLastPhase) return "last phase";
  return fmt::format("parity {}", parity);
}

std::string parity_in_code(const Step& step) {
  if (step.parity == kCurrentPhase) return fmt::format("phase[bar{}]", step.barrier);
  if (step.parity == kLastPhase) return fmt::format("phase[bar{}] ^ 1", step.barrier);
  return fmt::format("{}", step.parity);
}

// A map of another rank is refused before the first step.
std::uint32_t rank_of(const TensorMapSpec& spec) { return std::clamp(spec.rank, 1U, kMaxRank); }

std::string policy_in_code(CacheHint hint) {
  const std::string_view policy = kPolicies[static_cast<std::size_t>(hint)];
  return fmt::format("{}{}", policy.empty() ? "" : "_", policy);
}

bool is_remote(const Step& step) {
  return step.of != kOwnCta && !text_of(step.verb).remote_call.empty();
}

/// A step, and where it stands in its program.
struct Place {
  const Program& program;
  const Step& step;
  std::size_t number = 0;
  std::size_t snapshot = 0;  // snapshots in front of it
};

std::string formatted(std::string_view text, const Place& place) {
  const Step& step = place.step;
  const bool loads = step.verb == Verb::load;
  const std::uint32_t rank = loads ? rank_of(place.program.maps[step.map].spec) : 0;
  const auto* const at = step.at.data();
  return fmt::format(
      fmt::runtime(text), fmt::arg("step", place.number), fmt::arg("snapshot", place.snapshot),
      fmt::arg("barrier", step.barrier), fmt::arg("of", step.of),
      fmt::arg("of_cta", is_remote(step) ? fmt::format(", CTA {}", step.of) : ""),
      fmt::arg("count", step.count), fmt::arg("pending", step.pending),
      fmt::arg("arrivals", step.count > 1 ? fmt::format(", {} threads", step.count) : ""),
      fmt::arg("reset",
               keeps_phases(place.program) ? fmt::format(", phase[bar{}] = 0", step.barrier) : ""),
      fmt::arg("parity", parity_in_code(step)), fmt::arg("phase", phase_in_words(step.parity)),
      fmt::arg("stops", step.stops ? ", true" : ""),
      fmt::arg("or_stop", step.stops ? " or stop" : ""), fmt::arg("ns", step.ns),
      fmt::arg("time", time_in_words(step.ns)), fmt::arg("offset", step.offset),
      fmt::arg("bytes", step.bytes), fmt::arg("end", step.offset + step.bytes),
      fmt::arg("stride", step.stride), fmt::arg("most", step.most), fmt::arg("map", step.map),
      fmt::arg("rank", rank), fmt::arg("box", fmt::format("{}", fmt::join(at, at + rank, ", "))),
      fmt::arg("policy", policy_in_code(step.hint)), fmt::arg("word", step.word));
}

// The condition that holds for the threads that take a step; empty where it is all of them.
std::string takers_of(const Program& program, const Step& step) {
  std::vector<std::string> all_of;
  if (step.ctas != all_ctas(program))
    all_of.push_back(std::has_single_bit(step.ctas)
                         ? fmt::format("cta == {}", std::countr_zero(step.ctas))
                         : fmt::format("({:#x} >> cta & 1)", step.ctas));
  const Takers takers = text_of(step.verb).takers;
  const std::uint32_t threads = takers == Takers::one ? 1 : step.count;
  const std::uint32_t end = step.thread + threads;
  if (takers == Takers::one || takers == Takers::arrivals) {
    if (threads == 1) all_of.push_back(fmt::format("t == {}", step.thread));
    if (threads > 1 && step.thread > 0) all_of.push_back(fmt::format("t >= {}", step.thread));
    if (threads > 1 && end < kProgramThreads) all_of.push_back(fmt::format("t < {}", end));
  }
  return fmt::format("{}", fmt::join(all_of, " && "));
}

std::string code_of(const Place& place) {
  const VerbText& text = text_of(place.step.verb);
  const std::string takers = takers_of(place.program, place.step);
  const std::string call = formatted(is_remote(place.step) ? text.remote_call : text.call, place);
  if (text.takers != Takers::all_even_stopped)
    return fmt::format("  if (next({})) {}", takers, call);
  return takers.empty() ? "  " + call : fmt::format("  if ({}) {}", takers, call);
}

// The comment stands beside the code where there is room, else above it.
std::string step_text(const Place& place) {
  const std::string code = code_of(place);
  const std::string comment = fmt::format("// step {}: {}", place.number,
                                          formatted(text_of(place.step.verb).comment, place));
  const std::string line = fmt::format("{:<{}}  {}", code, kCodeColumns - 2, comment);
  return line.size() <= kColumns ? line + "\n" : fmt::format("  {}\n{}\n", comment, code);
}

std::string steps_text(const Program& program) {
  std::string text;
  std::size_t snapshot = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    text += step_text({.program = program, .step = step, .number = i, .snapshot = snapshot});
    if (step.verb == Verb::snapshot) ++snapshot;
  }
  return text;
}

std::string kernel_text(const Program& program) {
  const std::string steps = steps_text(program);
  std::vector<std::string> maps;
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    maps.push_back(fmt::format("const __grid_constant__ CUtensorMap map{}", i));
  std::string text = fmt::format("\n__global__ void __launch_bounds__(kThreads) reproduce({}) {{\n",
                                 fmt::join(maps, ",\n    "));
  std::vector<std::string_view> numbers;
  if (names(steps, "cta")) numbers.push_back("cta = blockIdx.x");
  if (names(steps, "t")) numbers.push_back("t = threadIdx.x");
  if (!numbers.empty()) text += fmt::format("  const u32 {};\n", fmt::join(numbers, ", "));
  text += steps;
  if (program.ctas > 1)
    text += "  cluster_sync();  // up to here CTAs may use each other's barriers\n";
  return text + "}\n";
}

/// In the order of MemorySource: how region {0} gets {1} bytes.
constexpr std::string_view kAllocations[] = {
    R"cu(  CHECK(cudaMalloc(&region{0}, {1}));
)cu",
    R"cu(  CHECK(cudaMallocAsync(&region{0}, {1}, 0));
)cu",
    R"cu(  CHECK(cudaMallocHost(&region{0}, {1}));
)cu",
    R"cu(  CUmemAllocationProp kind{0}{{}};
  kind{0}.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind{0}.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t size{0};
  CHECK(cuMemGetAllocationGranularity(&size{0}, &kind{0}, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  size{0} = ({1} + size{0} - 1) / size{0} * size{0};
  CHECK(cuMemAddressReserve((CUdeviceptr*)&region{0}, size{0}, 0, 0, 0));
  CUmemGenericAllocationHandle handle{0};
  CHECK(cuMemCreate(&handle{0}, size{0}, &kind{0}, 0));
  CHECK(cuMemMap((CUdeviceptr)region{0}, size{0}, 0, handle{0}, 0));
  const CUmemAccessDesc access{0}{{kind{0}.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
  CHECK(cuMemSetAccess((CUdeviceptr)region{0}, size{0}, &access{0}, 1));
)cu",
    R"cu(  CHECK(cudaSetDevice(1));
  CHECK(cudaMalloc(&region{0}, {1}));
  CHECK(cudaSetDevice(0));
)cu"};

// What word i of a region holds.
std::string_view word_of(DataType element) {
  if (element < DataType::f32_ftz) return "source_word(i)";
  return element == DataType::f32_ftz ? "normal(source_word(i), 0x7fffff)"
                                      : "normal(source_word(i), 0x7fe000)";
}

std::string region_text(const Region& region, std::size_t number) {
  return fmt::format("  u8* region{};\n", number) +
         fmt::format(fmt::runtime(kAllocations[static_cast<std::size_t>(region.source)]), number,
                     region.bytes) +
         fmt::format(R"cu(  std::vector<u64> source{0}({1}), after{0}({1});
  for (u64 i = 0; i < {1}; ++i) source{0}[i] = {2};
  CHECK(cudaMemcpy(region{0}, source{0}.data(), {3}, cudaMemcpyDefault));
)cu",
                     number, region.bytes / 8, word_of(region.element), region.bytes);
}

std::string region_print(const Region& region, std::size_t number) {
  return fmt::format(R"cu(  CHECK(cudaMemcpy(after{0}.data(), region{0}, {1}, cudaMemcpyDefault));
  std::printf("region {0}: %s\n", after{0} == source{0} ? "unchanged" : "changed");
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
  constexpr std::string_view kSwizzles[] = {"NONE", "32B", "64B", "128B"};
  constexpr std::string_view kPromotions[] = {"NONE", "L2_64B", "L2_128B", "L2_256B"};
  constexpr std::string_view kFills[] = {"NONE", "NAN_REQUEST_ZERO_FMA"};
  const TensorMapSpec& spec = map.spec;
  const std::uint32_t rank = spec.rank == rank_of(spec) ? spec.rank : kMaxRank;
  return fmt::format(R"cu(  const cuuint64_t extent{0}[] = {1}, stride{0}[] = {2};
  const cuuint32_t box{0}[] = {3}, element_stride{0}[] = {4};
  CUtensorMap map{0};
  CHECK(cuTensorMapEncodeTiled(&map{0}, CU_TENSOR_MAP_DATA_TYPE_{5}, {6}, region{7} + {8}, extent{0}, stride{0}, box{0},
                               element_stride{0}, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_{9},
                               CU_TENSOR_MAP_L2_PROMOTION_{10}, CU_TENSOR_MAP_FLOAT_OOB_FILL_{11}));
)cu",
                     number, braced(spec.extent, rank),
                     braced(spec.stride, std::clamp(rank - 1, 1U, 4U)), braced(spec.box, rank),
                     braced(spec.element_stride, rank), kTypes[static_cast<std::size_t>(spec.type)],
                     spec.rank, map.region, kGuardBytes + spec.base_offset,
                     kSwizzles[static_cast<std::size_t>(spec.swizzle)],
                     kPromotions[static_cast<std::size_t>(spec.l2_promotion)],
                     kFills[static_cast<std::size_t>(spec.fill)]);
}

std::string launch_text(const Program& program) {
  std::string maps;
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    maps += fmt::format("{}map{}", i == 0 ? "" : ", ", i);
  std::string text =
      R"cu(  CHECK(cudaFuncSetAttribute(reproduce, cudaFuncAttributeMaxDynamicSharedMemorySize, kWindow + 1023));
)cu";
  if (program.ctas == 1)
    return text +
           fmt::format(
               "  reproduce<<<1, kThreads, kWindow + 1023>>>({});\n  CHECK(cudaGetLastError());\n",
               maps);
  if (program.ctas > 8)
    text +=
        "  CHECK(cudaFuncSetAttribute(reproduce, cudaFuncAttributeNonPortableClusterSizeAllowed, "
        "1));\n";
  return text +
         fmt::format(R"cu(  cudaLaunchAttribute cluster{{cudaLaunchAttributeClusterDimension}};
  cluster.val.clusterDim = {{kCtas, 1, 1}};
  const cudaLaunchConfig_t config{{kCtas, kThreads, kWindow + 1023, nullptr, &cluster, 1}};
  CHECK(cudaLaunchKernelEx(&config, reproduce{}{}));
)cu",
                     maps.empty() ? "" : ", ", maps);
}

// Prints what each step left, in the order of the steps.
std::string print_text(const Program& program) {
  std::string prints;
  for (const VerbText& text : kVerbTexts)
    if (text.mark != 0 && std::ranges::count(program.steps, text.verb, &Step::verb) > 0)
      prints += fmt::format("      if (verb == '{}') {}\n", text.mark, text.print);
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
  for (std::size_t i = 0; i < program.maps.size(); ++i) text += map_text(program.maps[i], i);
  text += launch_text(program) + "  CHECK(cudaDeviceSynchronize());\n" + print_text(program);
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    text += region_print(program.regions[i], i);
  return text;
}

// `text` in lines of at most `columns`: split at white space, and where a word is longer, in it.
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
    if (c == 0x7f || static_cast<unsigned char>(c) <= ' ')
      end_word();
    else
      word += c;
  }
  end_word();
  return lines;
}

std::string comment(std::string_view text) {
  std::string lines;
  for (const std::string& line : wrapped(text, kColumns - 10)) {
    lines += (lines.empty() ? "// " : "//   ") + line;
    if (line.ends_with('\\')) lines += " //";  // else the next line is a part of this one
    lines += '\n';
  }
  return lines;
}

// Raw where a character would have a meaning.
std::string literal(const std::string& text) {
  const bool plain = text.find_first_of("\"\\") == std::string::npos;
  return plain ? "\"" + text + "\"" : "R\"words(" + text + ")words\"";
}

std::string puts_text(std::string_view text) {
  std::vector<std::string> lines = wrapped(text, 95);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) lines[i] += ' ';
  for (std::string& line : lines) line = literal(line);
  return fmt::format("  std::puts({});\n", fmt::join(lines, "\n            "));
}

std::string heading(const Program& program, const ReproducerWords& words) {
  const std::string ctas =
      program.ctas == 1 ? "one CTA" : fmt::format("a cluster of {} CTAs", program.ctas);
  return comment(words.title) + comment("Expected: " + words.expected) +
         comment("Seen: " + words.seen) +
         "// Build and run: nvcc -arch=sm_90a FILE.cu -lcuda -o reproducer && ./reproducer\n" +
         comment(fmt::format(
             "reproduce() takes the steps, in {}; main() prints what observing steps left.", ctas));
}

constexpr std::string_view kIncludes = R"cu(#include <cuda.h>
#include <cstdio>
#include <vector>

using u8 = unsigned char; using u32 = unsigned; using u64 = unsigned long long;
)cu";

}  // namespace

std::string cuda_reproducer(const Program& program, const ReproducerWords& words) {
  if (const std::string why = unsound(program); !why.empty()) throw Error(why);
  const std::string kernel = kernel_text(program), main = main_text(program);
  const Declarations declarations(items_of(program), kernel + main);
  const std::string code = declarations.text(Part::state) + declarations.text(Part::instruction) +
                           declarations.text(Part::function) + kernel +
                           declarations.text(Part::host) + main;
  return heading(program, words) + std::string(kIncludes) + constants(program, code) + code +
         puts_text("expected: " + words.expected) + puts_text("seen before: " + words.seen) + "}\n";
}

}  // namespace tidemark::suite
