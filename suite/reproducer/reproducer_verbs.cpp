// The texts of the verbs: a new verb is one more entry.
#include <fmt/format.h>

#include <iterator>

#include "suite/reproducer/reproducer_parts.hpp"

namespace tidemark {
namespace {

constexpr std::string_view kPrintRead = R"cu(std::printf("read 0x%016llx\n", seen);)cu";

constexpr VerbText kVerbTexts[] = {
    {.verb = Verb::init,
     .comment = "initialize barrier {barrier} with count {count}",
     .call = "init(bar{barrier}, {count}){reset};",
     .function = R"cu(
PTX(init, "mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;")
)cu"},
    {.verb = Verb::inval,
     .comment = "invalidate barrier {barrier}",
     .call = "inval(bar{barrier});",
     .function = R"cu(
PTX(inval, "mbarrier.inval.shared::cta.b64 [%0];")
)cu"},
    {.verb = Verb::arrive,
     .comment = "arrive on barrier {barrier}{of_cta}{arrivals}",
     .call = "arrive(bar{barrier});",
     .remote_call = "arrive_remote({of}, bar{barrier});",
     .function = R"cu(
PTX(arrive, "mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];")
)cu",
     .remote_function = R"cu(
PTX_REMOTE(arrive_remote, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];")
)cu"},
    {.verb = Verb::arrive_drop,
     .comment = "arrive on barrier {barrier}{of_cta}{arrivals}, for good",
     .call = "arrive_drop(bar{barrier});",
     .remote_call = "arrive_drop_remote({of}, bar{barrier});",
     .function = R"cu(
PTX(arrive_drop, "mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];")
)cu",
     .remote_function = R"cu(
PTX_REMOTE(arrive_drop_remote, "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [remote];")
)cu"},
    {.verb = Verb::arrive_token,
     .comment = "arrive on barrier {barrier}, {count} at once, and test the token",
     .call = "trace[{step}][cta] = {{'a', arrive_token(bar{barrier}, {count})}};",
     .function = R"cu(
PTX_TEST(arrive_token, ".reg .b64 s; mbarrier.arrive.release.cta.shared::cta.b64 s, [%1], %2; "
                       "mbarrier.test_wait.shared::cta.b64 p, [%1], s;")
)cu",
     .mark = 'a',
     .print = R"cu(std::printf("token %llu\n", seen);)cu"},
    {.verb = Verb::pending_count,
     .comment =
         "arrive on barrier {barrier}, {count} at once, not the last, and count what was pending",
     .call = "trace[{step}][cta] = {{'n', pending_count(bar{barrier}, {count})}};",
     .function = R"cu(
__device__ u32 pending_count(u32 b, u32 count) {
  u32 pending;
  asm volatile("{ .reg .b64 s; mbarrier.arrive.noComplete.shared::cta.b64 s, [%1], %2; "
               "mbarrier.pending_count.b64 %0, s; }"
               : "=r"(pending) : "r"(address(&barriers[b])), "r"(count) : "memory");
  return pending;
}
)cu",
     .mark = 'n',
     .print = R"cu(std::printf("pending %llu\n", seen);)cu"},
    {.verb = Verb::expect_tx,
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
     .comment = "complete {bytes} bytes on barrier {barrier}{of_cta}",
     .call = "complete_tx(bar{barrier}, {bytes});",
     .remote_call = "complete_tx_remote({of}, bar{barrier}, {bytes});",
     .function = R"cu(
PTX(complete_tx, "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;")
)cu",
     .remote_function = R"cu(
PTX_REMOTE(complete_tx_remote, "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [remote], %1;")
)cu"},
    {.verb = Verb::test,
     .comment = "test barrier {barrier}, {phase}",
     .call = "trace[{step}][cta] = {{'t', test(bar{barrier}, {parity})}};",
     .function = R"cu(
PTX_TEST(test, "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;")
)cu",
     .mark = 't',
     .print = R"cu(std::printf("test %llu\n", seen);)cu"},
    {.verb = Verb::wait,
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
     .comment = "load box {{{box}{offsets}}} of map {map}{to_ctas}",
     .call = "{load}_{form}{policy}({offset}, {map_at}, bar{barrier}, {box}{offsets}{mask});"},
    {.verb = Verb::send,
     .comment = "send {bytes} bytes to byte {box} of {whom}",
     .call = "send{kind}(cta, {offset}, {box}, {bytes}, bar{barrier});",
     .remote_call = "send{kind}({of}, {offset}, {box}, {bytes}, bar{barrier});",
     .function = R"cu(
__device__ void send(u32 cta, u32 from, u32 to, u32 bytes, u32 b) {
  asm volatile("{ .reg .b32 place, told; mapa.shared::cluster.u32 place, %0, %4; mapa.shared::cluster.u32 told, %3, %4;"
               " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [place], [%1], %2, [told]; }"
               ::"r"(address(window() + to)), "r"(address(window() + from)), "r"(bytes), "r"(address(&barriers[b])),
                "r"(cta) : "memory");
}
)cu"},
    {.verb = Verb::st_async,
     .comment = "store to byte {box} of {whom}",
     .call = "st_async{kind}(cta, {box}, bar{barrier}, {words});",
     .remote_call = "st_async{kind}({of}, {box}, bar{barrier}, {words});"},
    {.verb = Verb::red_async,
     .comment = "reduce at byte {box} of {whom}{arrivals}",
     .call = "red_async{kind}(cta, {box}, bar{barrier}, {words});",
     .remote_call = "red_async{kind}({of}, {box}, bar{barrier}, {words});"},
    {.verb = Verb::prefetch,
     .comment = "prefetch box {{{box}{offsets}}} of map {map}",
     .call = "prefetch{im2col}<{rank}>({map_at}, {box}{offsets});",
     .function = R"cu(
template <int kRank>
__device__ void prefetch(const CUtensorMap* map, int x, int y = 0, int z = 0, int u = 0, int v = 0) {
#define PREFETCH(rank, at, ...) if (kRank == rank) \
    asm volatile("cp.async.bulk.prefetch.tensor." #rank "d.L2.global.tile [%0, {" at "}];" \
                 ::"l"(map), __VA_ARGS__ : "memory")
  PREFETCH(1, "%1", "r"(x));
  PREFETCH(2, "%1, %2", "r"(x), "r"(y));
  PREFETCH(3, "%1, %2, %3", "r"(x), "r"(y), "r"(z));
  PREFETCH(4, "%1, %2, %3, %4", "r"(x), "r"(y), "r"(z), "r"(u));
  PREFETCH(5, "%1, %2, %3, %4, %5", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v));
}
template <int>
__device__ void prefetch(const Range* map, int first) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               ::"l"(map->memory + first * (long long)map->size), "r"(map->bytes) : "memory");
}
)cu"},
    {.verb = Verb::store,
     .comment = "{store} box {{{box}}} of map {map}",
     .call = "{store}_{form}{policy}({offset}, {map_at}, {box});"},
    {.verb = Verb::commit, .comment = "commit a group", .call = "commit();", .function = R"cu(
#define commit() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
)cu"},
    {.verb = Verb::wait_group,
     .comment = "{all_but} groups complete{and_read_word}",
     .call = "wait_group<{pending}>(){then}{keep_word};",
     .function = R"cu(
template <int kPending>
__device__ void wait_group() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory"); }
)cu",
     .mark = 'r',
     .print = kPrintRead},
    {.verb = Verb::wait_group_read,
     .comment = "{all_but} groups have read their sources{overwrite}",
     .call = "{{ if (t == {thread}) wait_group_read<{pending}>(); __syncthreads(); fill({offset}, "
             "{bytes}, ~{source}); }}",
     .empty_call = "wait_group_read<{pending}>();",
     .function = R"cu(
template <int kPending>
__device__ void wait_group_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory"); }
)cu"},
    {.verb = Verb::cluster_sync,
     .comment = "all CTAs meet",
     .call = "cluster_sync();",
     .function = R"cu(
#define cluster_sync() asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory")
)cu"},
    {.verb = Verb::delay, .comment = "{time} go by", .call = "delay({ns});", .function = R"cu(
__device__ void delay(u64 ns) { for (const long long end = clock64() + 2 * ns; clock64() < end;) __nanosleep(200); }
)cu"},
    {.verb = Verb::replace,
     .comment = "make map {map} of {from}",
     .call = "replace({where}, {map_at}, MAP{map}, {thread}, \"{scope}\");",
     .function = R"cu(
#define replace(where, map, fields, thread, scope) replace_##where(map, fields, thread, scope)
#define replace_in_place(map, fields, thread, scope) do { if (threadIdx.x == thread) {                              \
    fields("global", "l"(map)); asm volatile("fence.proxy.tensormap::generic.release." scope ";" ::: "memory"); }   \
  } while (false)
#define replace_in_shared(map, fields, thread, scope) do { __shared__ alignas(128) u32 edited[32];                  \
    edited[threadIdx.x % 32] = ((const u32*)map)[threadIdx.x % 32];                                                 \
    __syncwarp(); if (threadIdx.x == thread) fields("shared::cta", "r"(address(edited))); __syncwarp();             \
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release." scope                     \
                 ".sync.aligned [%0], [%1], 128;" ::"l"(map), "r"(address(edited)) : "memory"); } while (false)
)cu"},
    {.verb = Verb::acquire,
     .comment = "acquire map {map}",
     .call = "acquire({map_at}, \"{scope}\");",
     .function = R"cu(
#define acquire(map, scope) \
    asm volatile("fence.proxy.tensormap::generic.acquire." scope " [%0], 128;" ::"l"(map) : "memory")
)cu"},
    {.verb = Verb::fill,
     .comment = "fill bytes {offset} to {end} of the window",
     .call = "fill({offset}, {bytes}, {source});",
     .function = R"cu(
#define fill(offset, bytes, word) do { /* word: of the i-th 8 bytes of the window */                                \
    for (u32 i = offset / 8 + threadIdx.x; i < (offset + bytes) / 8; i += kThreads) ((u64*)window())[i] = word;     \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); } while (false)
)cu"},
    {.verb = Verb::add,
     .comment = "add {count} + {stride} i to element i of the tile",
     .call = "add<{number}>({offset}, {tile_bytes}, {pieces}, {count}, {stride});",
     .function = R"cu(
template <class Number>
__device__ void add(u32 tile, u32 bytes, u32 pieces, u32 first, u32 step) {
  for (u32 i = threadIdx.x; i < bytes / 4; i += kThreads)
    *(Number*)&window()[swizzled(tile + 4 * i, pieces)] += (Number)(first + i * step);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)cu"},
    {.verb = Verb::copy,
     .comment = "threads copy box {{{box}}} of map {map}",
     .call = "copy({offset}, {tile_bytes}, {tensor}, {pieces});",
     .function = R"cu(
struct Tensor { const u8* memory; u32 size, rank; long long extent[5], pitch[5]; u32 count[5], step[5]; int at[5]; };
__device__ void copy(u32 tile, u32 bytes, Tensor t, u32 pieces) {  // by their elements; outside are zeros
  for (u32 i = threadIdx.x; i < bytes; i += kThreads) {
    long long from = i % t.size, x, inside = 1;
    for (u32 d = 0, rest = i / t.size; d < t.rank; from += x * t.pitch[d], rest /= t.count[d++])
      x = t.at[d] + (long long)(rest % t.count[d]) * t.step[d], inside = inside && x >= 0 && x < t.extent[d];
    window()[swizzled(tile + i, pieces)] = inside ? t.memory[from] : 0;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)cu"},
    {.verb = Verb::place_rows,
     .comment = "place the tile at byte {offset} in rows of all groups at byte {to}",
     .call = "place_rows({offset}, {to}, {matrix});",
     .function = R"cu(
__device__ void place_rows(u32 from, u32 to, u32 rows, u32 row_bytes, u32 groups, u32 pieces) {
  const u32 columns = row_bytes / 16 * groups;
  for (u32 i = threadIdx.x; i < rows * columns; i += kThreads) {
    const u32 row = i / columns, at = i % columns * 16;
    const u32 chunk = from + (at / row_bytes * rows + row) * row_bytes + at % row_bytes;
    const u32 place = to + row * columns * 16 + at;
    *(uint4*)(window() + swizzled(place, pieces)) = *(uint4*)(window() + swizzled(chunk, pieces));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)cu"},
    {.verb = Verb::read_columns,
     .comment = "the lanes of a warp read 16 bytes each, from column {first} on",
     .call = "read_columns({offset}, {to}, {first}, {stride}, {matrix});",
     .function = R"cu(
__device__ void read_columns(u32 from, u32 to, u32 first, u32 pitch, u32 rows, u32 row_bytes, u32, u32 pieces) {
  const u32 lane = threadIdx.x % 32, row = lane % rows, at = (first + lane / rows) * 16;
  const u32 chunk = from + (pitch != 0 ? row * pitch + at : (at / row_bytes * rows + row) * row_bytes + at % row_bytes);
  *(uint4*)(window() + to + 16 * lane) = *(uint4*)(window() + swizzled(chunk, pieces));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)cu"},
    {.verb = Verb::look,
     .comment = "{read_word}, uncached",
     .call = "{keep_word};",
     .mark = 'r',
     .print = kPrintRead},
    {.verb = Verb::poison,
     .comment = "poison bytes {offset} to {end} of the window",
     .call = "poison({offset}, {bytes});",
     .function = R"cu(
__device__ void poison(u32 offset, u32 bytes) {
  for (u32 i = offset + threadIdx.x; i < offset + bytes; i += kThreads) window()[i] = poison_byte(i, blockIdx.x);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)cu"},
    {.verb = Verb::write,
     .comment = "write to the 8 bytes of barrier {barrier}",
     .call = "barriers[bar{barrier}] = {word:#x};"},
    {.verb = Verb::read,
     .comment = "read the 8 bytes of barrier {barrier}",
     .call = "trace[{step}][cta] = {{'r', barriers[bar{barrier}]}};",
     .mark = 'r',
     .print = kPrintRead},
    {.verb = Verb::missing,
     .comment = "count 16-byte pieces that are poison",
     .call = "missing({step}, {offset}, {bytes});",
     .function = R"cu(
__device__ void missing(u32 step, u32 offset, u32 bytes) {
  for (u32 at = offset + 16 * threadIdx.x; at < offset + bytes; at += 16 * kThreads) {
    bool poisoned = true;
    for (u32 i = at; i < at + 16; ++i) poisoned &= window()[i] == poison_byte(i, blockIdx.x);
    if (poisoned) atomicAdd(&trace[step][blockIdx.x].seen, 1);
  }
  if (threadIdx.x == 0) trace[step][blockIdx.x].verb = 'p';
}
)cu",
     .mark = 'p',
     .print = R"cu(std::printf("%llu pieces of poison\n", seen);)cu"},
    {.verb = Verb::wgmma,
     .comment = "multiply two tiles into byte {offset} of the window",
     .call = "wgmma_{product}({offset});"},
    {.verb = Verb::snapshot,
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
     .print = R"cu(std::printf("window %016llx\n", digest(copied[seen][cta], kWindow));)cu"},
    {.verb = Verb::leave, .comment = "thread {thread} alone goes on", .call = "return;"},
};

static_assert(std::size(kVerbTexts) == kVerbs && [] {
  for (std::uint32_t i = 0; i < kVerbs; ++i)
    if (kVerbTexts[i].verb != static_cast<Verb>(i)) return false;
  return true;
}());

}  // namespace

std::span<const VerbText> verb_texts() { return kVerbTexts; }

std::string_view operation_of(Reduction reduction) {
  return kStoreNames[static_cast<std::size_t>(reduction)].substr(kReduce.size());
}

std::string ptx_type(Reduction reduction, DataType type) {
  return reduction >= Reduction::bit_and ? fmt::format("b{}", 8 * element_bytes(type))
                                         : std::string(name_of(type));
}

const VerbText& text_of(Verb verb) { return kVerbTexts[static_cast<std::size_t>(verb)]; }

}  // namespace tidemark
