// Reproducers: for each verb one is compiled with nvcc and has the instructions of its verb.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/tile_store.hpp"
#include "suite/testing/reproducers.hpp"

namespace tidemark {
namespace {

struct VerbExample {
  Verb verb;
  std::vector<std::string_view> instructions;
  Program program;
};

std::vector<VerbExample> mbarrier_examples() {
  return {
      {Verb::init,
       {"mbarrier.init.shared::cta.b64", "fence.mbarrier_init.release.cluster",
        "fence.proxy.async.shared::cta"},
       one_cta({{.verb = Verb::init}})},
      {Verb::inval, {"mbarrier.inval.shared::cta.b64"}, one_cta({{.verb = Verb::inval}})},
      {Verb::arrive,
       {"mbarrier.arrive.release.cta.shared::cta.b64"},
       one_cta({{.verb = Verb::arrive, .thread = 3, .count = 32}})},
      {Verb::arrive,
       {"mapa.shared::cluster.u32", "mbarrier.arrive.release.cluster.shared::cluster.b64"},
       two_ctas({{.verb = Verb::arrive, .of = 1}})},
      {Verb::arrive_drop,
       {"mbarrier.arrive_drop.release.cta.shared::cta.b64"},
       one_cta({{.verb = Verb::arrive_drop, .thread = 3, .count = 32}})},
      {Verb::arrive_drop,
       {"mapa.shared::cluster.u32", "mbarrier.arrive_drop.release.cluster.shared::cluster.b64"},
       two_ctas({{.verb = Verb::arrive_drop, .of = 1}})},
      {Verb::arrive_token,
       {"mbarrier.arrive.release.cta.shared::cta.b64", "mbarrier.test_wait.shared::cta.b64"},
       one_cta({{.verb = Verb::arrive_token, .thread = 3, .count = 9}})},
      {Verb::pending_count,
       {"mbarrier.arrive.noComplete.shared::cta.b64", "mbarrier.pending_count.b64"},
       one_cta({{.verb = Verb::pending_count, .thread = 3, .count = 9}})},
      {Verb::expect_tx,
       {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64"},
       one_cta({{.verb = Verb::expect_tx, .bytes = 256}})},
      {Verb::expect_tx,
       {"mapa.shared::cluster.u32", "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64"},
       two_ctas({{.verb = Verb::expect_tx, .of = 1, .bytes = 256}})},
      {Verb::arrive_expect_tx,
       {"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64"},
       one_cta({{.verb = Verb::arrive_expect_tx, .bytes = 256}})},
      {Verb::arrive_expect_tx,
       {"mapa.shared::cluster.u32",
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64"},
       two_ctas({{.verb = Verb::arrive_expect_tx, .of = 1, .bytes = 256}})},
      {Verb::complete_tx,
       {"mbarrier.complete_tx.relaxed.cta.shared::cta.b64"},
       one_cta({{.verb = Verb::complete_tx, .bytes = 256}})},
      {Verb::complete_tx,
       {"mapa.shared::cluster.u32", "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64"},
       two_ctas({{.verb = Verb::complete_tx, .of = 1, .bytes = 256}})},
      {Verb::test,
       {"mbarrier.test_wait.parity.shared::cta.b64"},
       one_cta({{.verb = Verb::test, .parity = 1}})},
      {Verb::wait,
       {"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64", "bar.red.and.pred", "clock64"},
       one_cta({{.verb = Verb::wait, .ns = kMustCompleteNs}})},
      {Verb::wait,
       {"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", "bar.red.and.pred",
        "nanosleep"},
       two_ctas({{.verb = Verb::wait, .parity = kLastPhase, .stops = true, .ns = kLandNs}})},
      {Verb::meter,
       {"mbarrier.test_wait.parity.shared::cta.b64", "mbarrier.arrive.release.cta",
        "mbarrier.expect_tx.relaxed.cta", "mbarrier.complete_tx.relaxed.cta"},
       one_cta({{.verb = Verb::meter, .pending = 1, .bytes = 1024, .stride = 16, .most = 99}})},
  };
}

std::vector<VerbExample> other_examples() {
  return {
      {Verb::load,
       {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"},
       one_cta({{.verb = Verb::load, .at = {-8, 3}}})},
      {Verb::send,
       {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
        "mapa.shared::cluster.u32"},
       two_ctas({{.verb = Verb::send, .of = 1, .offset = 64, .bytes = 32, .at = {1024}},
                 {.verb = Verb::send, .offset = 64, .bytes = 32, .at = {1024}}})},
      {Verb::send,
       {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32",
        "mapa.shared::cluster.u32"},
       two_ctas({{.verb = Verb::send,
                  .of = 1,
                  .reduction = Reduction::bit_xor,
                  .offset = 64,
                  .bytes = 32,
                  .at = {1024}}})},
      {Verb::st_async,
       {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32",
        "mapa.shared::cluster.u32"},
       two_ctas({{.verb = Verb::st_async, .bytes = 4, .at = {1028}, .word = 9}})},
      {Verb::st_async,
       {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"},
       two_ctas({{.verb = Verb::st_async, .of = 1, .bytes = 16, .at = {1024}, .word = 9}})},
      {Verb::st_async,
       {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64"},
       two_ctas({{.verb = Verb::st_async,
                  .of = 1,
                  .type = DataType::u64,
                  .bytes = 16,
                  .at = {1024},
                  .word = 9}})},
      {Verb::red_async,
       {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64"},
       two_ctas({{.verb = Verb::red_async,
                  .of = 1,
                  .reduction = Reduction::add,
                  .type = DataType::u64,
                  .at = {1024},
                  .word = 1ULL << 40}})},
      {Verb::red_async,
       {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32"},
       two_ctas({{.verb = Verb::red_async,
                  .of = 1,
                  .reduction = Reduction::min,
                  .type = DataType::s32,
                  .at = {1028},
                  .word = 9}})},
      {Verb::prefetch,
       {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile"},
       one_cta({{.verb = Verb::prefetch, .at = {-8, 3}}})},
      {Verb::replace,
       {"tensormap.replace.tile.box_dim.shared::cta.b1024.b32",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.cluster.sync."
        "aligned",
        "bar.warp.sync"},
       remapped({{.verb = Verb::replace, .thread = 33, .map = 1, .scope = Scope::cluster}})},
      {Verb::replace,
       {"tensormap.replace.tile.global_address.global.b1024.b64",
        "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd",
        "fence.proxy.tensormap::generic.release.gpu;"},
       remapped({{.verb = Verb::replace, .map = 2, .in_place = true}})},
      {Verb::acquire,
       {"fence.proxy.tensormap::generic.acquire.sys ["},
       remapped({{.verb = Verb::acquire, .scope = Scope::sys}})},
      {Verb::fill,
       {"st.shared.u64", "fence.proxy.async.shared::cta"},
       one_cta({{.verb = Verb::fill, .offset = 1024, .bytes = 2048}})},
      {Verb::add, {"add.s32", "fence.proxy.async.shared::cta"}, working({{.verb = Verb::add}})},
      {Verb::add,
       {"cvt.rn.f32.u32", "add.f32", "fence.proxy.async.shared::cta"},
       working({{.verb = Verb::add, .count = 0, .stride = 1}}, DataType::f32, Numbers::counting)},
      {Verb::copy,
       {"ld.global", "st.shared.u8", "fence.proxy.async.shared::cta"},
       working({{.verb = Verb::copy, .offset = 1024, .at = {-8, 3}}}, DataType::s32,
               Numbers::small)},
      {Verb::place_rows,
       {"ld.shared.v4.u32", "st.shared.v4.u32", "fence.proxy.async.shared::cta"},
       matrix({.verb = Verb::place_rows, .offset = 1024, .at = {8192}})},
      {Verb::read_columns,
       {"ld.shared.v4.u32", "st.shared.v4.u32", "fence.proxy.async.shared::cta"},
       matrix({.verb = Verb::read_columns, .offset = 1024, .at = {8192, 3}})},
      {Verb::look, {"ld.global.cv.u64"}, one_cta({{.verb = Verb::look, .region = 0, .word = 8}})},
      {Verb::look, {}, one_cta({{.verb = Verb::look}})},
      {Verb::cluster_sync,
       {"barrier.cluster.arrive.release", "barrier.cluster.wait.acquire"},
       two_ctas({{.verb = Verb::cluster_sync, .ctas = 3}})},
      {Verb::delay, {"clock64", "nanosleep"}, one_cta({{.verb = Verb::delay, .ns = 1500}})},
      {Verb::poison,
       {"st.shared.u8", "fence.proxy.async.shared::cta"},
       one_cta({{.verb = Verb::poison, .offset = 1024, .bytes = 2048}})},
      {Verb::write,
       {"st.volatile.shared.u64"},
       one_cta({{.verb = Verb::write, .word = 0xfedcba9876543210}})},
      {Verb::read, {"ld.volatile.shared.u64"}, one_cta({{.verb = Verb::read, .thread = 255}})},
      {Verb::missing,
       {"ld.shared", "atom.global.add.u64"},
       one_cta({{.verb = Verb::missing, .bytes = 4096}})},
      {Verb::wgmma,
       {"wgmma.fence.sync.aligned", "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8",
        "wgmma.wait_group.sync.aligned 0", "fence.proxy.async.shared::cta"},
       multiplying({.type = MmaType::s8, .n = 8, .k = 128, .b = {.offset = 8192}})},
      {Verb::wgmma,
       {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"},
       multiplying(
           {.n = 128, .a = {.major = Major::mn}, .b = {.major = Major::mn, .offset = 8192}})},
      {Verb::snapshot,
       {"ld.shared.v4.u32", "st.global.v4.u32"},
       one_cta({{.verb = Verb::snapshot}})},
  };
}

std::vector<VerbExample> store_examples() {
  return {
      {Verb::store,
       {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group ["},
       one_cta({{.verb = Verb::store, .at = {8, 3}}})},
      {Verb::store,
       {"cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group ["},
       one_cta({{.verb = Verb::store, .reduction = Reduction::bit_xor, .at = {8, 3}}})},
      {Verb::store,
       {"createpolicy.fractional.L2::evict_last.b64",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.tile.bulk_group.L2::cache_hint ["},
       one_cta({{.verb = Verb::store,
                 .hint = CacheHint::evict_last,
                 .reduction = Reduction::min,
                 .at = {8, 3}}})},
      {Verb::commit, {"cp.async.bulk.commit_group"}, one_cta({{.verb = Verb::commit}})},
      {Verb::wait_group,
       {"cp.async.bulk.wait_group 3;", "ld.global.u64"},
       one_cta({{.verb = Verb::wait_group, .region = 0, .pending = 3, .word = 1032}})},
      {Verb::wait_group,
       {"cp.async.bulk.wait_group 15;"},
       one_cta({{.verb = Verb::wait_group, .pending = kGroupsPending}})},
      {Verb::wait_group_read,
       {"cp.async.bulk.wait_group.read 1;", "bar.sync", "st.shared.u64",
        "fence.proxy.async.shared::cta"},
       one_cta({{.verb = Verb::wait_group_read, .pending = 1, .offset = 1024, .bytes = 256}})},
      {Verb::wait_group_read,
       {"cp.async.bulk.wait_group.read 0;"},
       one_cta({{.verb = Verb::wait_group_read}})},
      {Verb::leave,
       {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [",
        "cp.async.bulk.commit_group", "cp.async.bulk.wait_group.read 0;"},
       one_cta({{.verb = Verb::leave},
                {.verb = Verb::store, .at = {8, 3}},
                {.verb = Verb::commit},
                {.verb = Verb::wait_group_read}})},
  };
}

std::vector<VerbExample> examples() {
  std::vector<VerbExample> all = mbarrier_examples();
  std::ranges::move(store_examples(), std::back_inserter(all));
  std::ranges::move(other_examples(), std::back_inserter(all));
  return all;
}

TEST_F(Compiled, EveryVerbToItsInstructions) {
  std::set<Verb> verbs;
  for (const VerbExample& example : examples()) {
    verbs.insert(example.verb);
    const std::string source = cuda_reproducer(example.program, kWords);
    const std::string ptx = ptx_of(source);
    for (const std::string_view instruction : example.instructions)
      EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction << '\n' << source;
    EXPECT_LE(lines_of(source).size(), 100U);
    expect_narrow(source);
  }
  EXPECT_EQ(verbs.size(), kVerbs) << "a verb has no example";
}

TEST_F(Compiled, LoadsOfEveryRankAndPolicy) {
  Program program = one_cta({});
  program.maps.clear();
  for (std::uint8_t rank = 1; rank <= kMaxRank; ++rank) {
    program.maps.push_back({.spec = tensor(rank)});
    for (const CacheHint hint :
         {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
      program.steps.push_back({.verb = Verb::load,
                               .map = static_cast<std::uint8_t>(rank - 1),
                               .hint = hint,
                               .at = {-2147483647 - 1, 2147483647, 1, -1, 0}});
  }
  const std::string source = cuda_reproducer(program, kWords);
  const std::string ptx = ptx_of(source);
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    const std::string copy = fmt::format(
        "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", rank);
    EXPECT_NE(ptx.find(copy + " ["), std::string::npos) << copy;
    EXPECT_NE(ptx.find(copy + ".L2::cache_hint ["), std::string::npos) << copy;
  }
  for (const std::string_view policy : {"evict_normal", "evict_first", "evict_last"})
    EXPECT_NE(ptx.find(fmt::format("createpolicy.fractional.L2::{}.b64", policy)),
              std::string::npos);
  expect_narrow(source);
}

TEST_F(Compiled, Im2colLoadsAndPrefetchesOfEveryRankPolicyAndMask) {
  Program program = two_ctas({});
  program.maps.clear();
  for (std::uint32_t rank = 3; rank <= kMaxRank; ++rank) {
    program.maps.push_back({.spec = {.rank = rank,
                                     .extent = {16, 2, 2, 2, 2},
                                     .stride = {16, 32, 64, 128},
                                     .box = {16, 4},
                                     .im2col = true,
                                     .lower_corner = {-1, -1, -1}}});
    for (const std::uint16_t mask : {std::uint16_t{0}, std::uint16_t{3}})
      for (const CacheHint hint : {CacheHint::none, CacheHint::evict_last})
        program.steps.push_back({.verb = Verb::load,
                                 .map = static_cast<std::uint8_t>(rank - 3),
                                 .hint = hint,
                                 .mask = mask,
                                 .at = {0, -1, 1, -1, 0},
                                 .im2col_offsets = {1, 2, 3}});
    program.steps.push_back({.verb = Verb::prefetch,
                             .map = static_cast<std::uint8_t>(rank - 3),
                             .at = {0, -1, 1, -1, 0},
                             .im2col_offsets = {1, 2, 3}});
  }
  const std::string source = cuda_reproducer(program, kWords);
  const std::string ptx = ptx_of(source);
  for (std::uint32_t rank = 3; rank <= kMaxRank; ++rank)
    for (const std::string_view mask : {"", ".multicast::cluster"})
      for (const std::string_view policy : {"", ".L2::cache_hint"}) {
        const std::string copy = fmt::format(
            "cp.async.bulk.tensor.{}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{}"
            "{} [",
            rank, mask, policy);
        EXPECT_NE(ptx.find(copy), std::string::npos) << copy;
      }
  EXPECT_NE(ptx.find("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col ["), std::string::npos);
  EXPECT_NE(source.find("cuTensorMapEncodeIm2col(&map2"), std::string::npos);
  expect_narrow(source);
}

TEST_F(Compiled, InterleavedMapsAreEncodedAsSuch) {
  Program program = two_ctas({{.verb = Verb::load}});
  program.maps = {{.spec = {.type = DataType::u16,
                            .rank = 3,
                            .extent = {8, 2, 2},
                            .stride = {128, 256},
                            .box = {8, 1, 1},
                            .interleave = Interleave::b16}}};
  const std::string source = cuda_reproducer(program, kWords);
  EXPECT_NE(
      source.find("element_stride0, CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_SWIZZLE_NONE"),
      std::string::npos);
  EXPECT_NE(ptx_of(source).find("cp.async.bulk.tensor.3d"), std::string::npos);
}

TEST_F(Compiled, Im2colStoresOfEveryRankAndPolicyAndReductions) {
  Program program = one_cta({});
  program.maps.clear();
  for (std::uint32_t rank = 3; rank <= kMaxRank; ++rank) {
    program.maps.push_back({.spec = {.type = DataType::u32,
                                     .rank = rank,
                                     .extent = {16, 2, 2, 2, 2},
                                     .stride = {64, 128, 256, 512},
                                     .box = {16, 4},
                                     .im2col = true}});
    for (const Reduction reduction : {Reduction::none, Reduction::bit_and})
      for (const CacheHint hint : {CacheHint::none, CacheHint::evict_last})
        program.steps.push_back({.verb = Verb::store,
                                 .map = static_cast<std::uint8_t>(rank - 3),
                                 .hint = hint,
                                 .reduction = reduction});
  }
  const std::string source = cuda_reproducer(program, kWords);
  const std::string ptx = ptx_of(source);
  for (std::uint32_t rank = 3; rank <= kMaxRank; ++rank)
    for (const std::string_view policy : {"", ".L2::cache_hint"}) {
      const std::string form = fmt::format(".im2col_no_offs.bulk_group{} [", policy);
      EXPECT_NE(ptx.find(fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta{}", rank, form)),
                std::string::npos);
      EXPECT_NE(ptx.find(fmt::format("cp.reduce.async.bulk.tensor.{}d.global.shared::cta.and{}",
                                     rank, form)),
                std::string::npos);
    }
  expect_narrow(source);
}

TEST_F(Compiled, PrefetchesOfEveryRankAndOfBytes) {
  Program program = one_cta({});
  program.maps.clear();
  for (std::uint8_t rank = 1; rank <= kMaxRank; ++rank) {
    program.maps.push_back({.spec = tensor(rank)});
    program.steps.push_back({.verb = Verb::prefetch,
                             .map = static_cast<std::uint8_t>(rank - 1),
                             .at = {-2147483647 - 1, 2147483647, 1, -1, 0}});
  }
  program.steps.push_back({.verb = Verb::prefetch, .map = kMaxRank, .at = {16}});
  program.maps.push_back({.spec = {.rank = 1, .extent = {64}, .box = {16}, .bulk = true}});
  const std::string source = cuda_reproducer(program, kWords);
  const std::string ptx = ptx_of(source);
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    const std::string form =
        fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global.tile [", rank);
    EXPECT_NE(ptx.find(form), std::string::npos) << form;
  }
  EXPECT_NE(ptx.find("cp.async.bulk.prefetch.L2.global ["), std::string::npos);
  expect_narrow(source);
}

TEST_F(Compiled, StoresOfEveryRankAndPolicy) {
  Program program = one_cta({});
  program.maps.clear();
  for (std::uint8_t rank = 1; rank <= kMaxRank; ++rank) {
    program.maps.push_back({.spec = tensor(rank)});
    for (const CacheHint hint :
         {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
      program.steps.push_back({.verb = Verb::store,
                               .map = static_cast<std::uint8_t>(rank - 1),
                               .hint = hint,
                               .at = {-2147483647 - 1, 2147483647, 1, -1, 0}});
  }
  const std::string source = cuda_reproducer(program, kWords);
  const std::string ptx = ptx_of(source);
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    const std::string copy =
        fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group", rank);
    EXPECT_NE(ptx.find(copy + " ["), std::string::npos) << copy;
    EXPECT_NE(ptx.find(copy + ".L2::cache_hint ["), std::string::npos) << copy;
  }
  for (const std::string_view policy : {"evict_normal", "evict_first", "evict_last"})
    EXPECT_NE(ptx.find(fmt::format("createpolicy.fractional.L2::{}.b64", policy)),
              std::string::npos);
  expect_narrow(source);
}

TEST_F(Compiled, WritesByRegistersOfEveryWidthAndEveryReductionInAWindow) {
  Program program = two_ctas({});
  for (const DataType type : {DataType::u32, DataType::s32, DataType::u64}) {
    for (std::uint32_t bytes = element_bytes(type); bytes <= 16; bytes *= 2)
      if (type != DataType::s32)
        program.steps.push_back(
            {.verb = Verb::st_async, .of = 1, .type = type, .bytes = bytes, .at = {1024}});
    for (std::uint32_t i = 0; i < kReductions; ++i) {
      const auto reduction = static_cast<Reduction>(i);
      if (!reduces_in_shared(reduction, type)) continue;
      program.steps.push_back(
          {.verb = Verb::red_async, .of = 1, .reduction = reduction, .type = type, .at = {1024}});
      program.steps.push_back({.verb = Verb::send,
                               .of = 1,
                               .reduction = reduction,
                               .type = type,
                               .bytes = 16,
                               .at = {1024}});
    }
  }
  const std::string ptx = ptx_of(cuda_reproducer(program, kWords));
  const std::string credit = "mbarrier::complete_tx::bytes.";
  for (const char* const form : {"b32", "v2.b32", "v4.b32", "b64", "v2.b64"})
    EXPECT_NE(ptx.find("st.async.weak.shared::cluster." + credit + form), std::string::npos)
        << form;
  for (const char* const form : {"add.u32", "min.u32", "max.u32", "inc.u32", "dec.u32", "and.b32",
                                 "or.b32", "xor.b32", "add.s32", "min.s32", "max.s32", "add.u64"}) {
    EXPECT_NE(ptx.find("red.async.relaxed.cluster.shared::cluster." + credit + form),
              std::string::npos)
        << form;
    EXPECT_NE(
        ptx.find("cp.reduce.async.bulk.shared::cluster.shared::cta." + credit + form + " [place]"),
        std::string::npos)
        << form;
  }
}

TEST_F(Compiled, BulkCopiesOfEveryPolicyAndReduction) {
  Program program = two_ctas({});
  program.maps.clear();
  const auto add = [&](Step step, DataType type) {
    step.map = static_cast<std::uint8_t>(program.maps.size());
    program.maps.push_back(
        {.spec = {.type = type, .rank = 1, .extent = {16}, .box = {8}, .bulk = true}});
    program.steps.push_back(step);
  };
  for (const CacheHint hint : {CacheHint::none, CacheHint::evict_first}) {
    add({.verb = Verb::load, .hint = hint}, DataType::u64);
    add({.verb = Verb::load, .hint = hint, .mask = 3}, DataType::u64);
    add({.verb = Verb::store, .hint = hint}, DataType::u64);
  }
  add({.verb = Verb::store, .reduction = Reduction::add}, DataType::f16);
  add({.verb = Verb::store, .reduction = Reduction::max}, DataType::s64);
  add({.verb = Verb::store, .reduction = Reduction::bit_or}, DataType::u32);
  const std::string source = cuda_reproducer(program, kWords);
  const std::string ptx = ptx_of(source);
  const std::string load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group";
  const std::string reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group";
  for (const std::string& instruction :
       {load + " [", load + ".L2::cache_hint [", load + ".multicast::cluster [",
        load + ".multicast::cluster.L2::cache_hint [", store + " [", store + ".L2::cache_hint [",
        reduce + ".add.noftz.f16 [", reduce + ".max.s64 [", reduce + ".or.b32 ["})
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction;
  expect_narrow(source);
}

TEST_F(Compiled, EveryNumberOfGroupsThatMayBePending) {
  Program program = one_cta({});
  for (std::uint32_t pending = 0; pending <= kGroupsPending; ++pending) {
    program.steps.push_back({.verb = Verb::wait_group, .pending = pending});
    program.steps.push_back({.verb = Verb::wait_group_read, .pending = pending});
  }
  const std::string ptx = ptx_of(cuda_reproducer(program, kWords));
  for (std::uint32_t pending = 0; pending <= kGroupsPending; ++pending)
    for (const std::string_view wait : {"wait_group", "wait_group.read"})
      EXPECT_NE(ptx.find(fmt::format("cp.async.bulk.{} {};", wait, pending)), std::string::npos)
          << wait << ' ' << pending;
}

// As a mismatched expect_tx on the peer has its steps, with its checks.

}  // namespace
}  // namespace tidemark
