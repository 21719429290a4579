// Reproducers: for each verb one is compiled with nvcc and has the instructions of its verb.
#include "suite/reproducer/reproducer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/tile_store.hpp"
#include "suite/testing/hostile_words.hpp"

namespace tidemark::suite {
namespace {

const ReproducerWords kWords{.title = "A phase completes 16 bytes early",
                             .expected = "residue 0 on barrier 0 of CTA 0",
                             .seen = "residue -16 in 3 of 100 runs on SM 17"};

/// A folder that is gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "reproducer.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error("cannot create " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::string& name) {
  std::ifstream file(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Empty where there is none.
std::string find_nvcc() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/nvcc").c_str(), X_OK) == 0) return folder + "/nvcc";
  return "";
}

class Compiled : public testing::Test {
 protected:
  void SetUp() override {
    if (nvcc_.empty()) GTEST_SKIP() << "no nvcc in $PATH or /usr/local/cuda/bin";
  }

  // Runs nvcc, warnings being errors. What it says is a failure.
  bool compile(const std::string& arguments) const {
    const std::string log = folder_.file("log");
    const std::string command =
        fmt::format("'{}' -gencode=arch=compute_90a,code=sm_90a -Werror all-warnings {} >{} 2>&1",
                    nvcc_, arguments, log);
    const bool compiled = std::system(command.c_str()) == 0;
    EXPECT_TRUE(compiled) << command << '\n' << read_file(log);
    return compiled;
  }

  // The PTX of a source, which is compiled on to machine code.
  std::string ptx_of(const std::string& source) const {
    const std::string cu = folder_.file("a.cu"), ptx = folder_.file("a.ptx");
    std::ofstream(cu) << source;
    EXPECT_TRUE(compile(fmt::format("-ptx -o {} {}", ptx, cu)) &&
                compile(fmt::format("-cubin -o {} {}", folder_.file("a.cubin"), ptx)))
        << source;
    return read_file(ptx);
  }

  void executable(const std::string& source) const {
    std::ofstream(folder_.file("a.cu")) << source;
    EXPECT_TRUE(compile(fmt::format("{} -lcuda -o {}", folder_.file("a.cu"), folder_.file("a"))))
        << source;
  }

  const std::string nvcc_ = find_nvcc();
  const Folder folder_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_narrow(const std::string& text) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 120U) << line;
}

TensorMapSpec tensor(std::uint32_t rank) {
  TensorMapSpec spec{.type = DataType::u16, .rank = rank};
  spec.extent = {64, 8, 2, 2, 2};
  spec.stride = {128, 1024, 2048, 4096};
  spec.box = {32, 4, 1, 1, 1};
  return spec;
}

Program one_cta(std::vector<Step> steps) {
  return {.window = 4096,
          .barriers = 2,
          .regions = {{.bytes = 16384}},
          .maps = {{.spec = tensor(2)}},
          .steps = std::move(steps),
          .payload = {.seed = 17}};
}

Program two_ctas(std::vector<Step> steps) {
  Program program = one_cta(std::move(steps));
  program.cluster = {2, 1, 1};
  return program;
}

Program working(std::vector<Step> steps, DataType type = DataType::u32,
                Numbers numbers = Numbers::hash) {
  Program program = one_cta(std::move(steps));
  program.maps[0].spec.type = program.regions[0].element = type;
  program.maps[0].spec.swizzle = Swizzle::b128;
  program.regions[0].numbers = numbers;
  return program;
}

// Map 1 is made of map 0, map 2 of zeros.
Program remapped(std::vector<Step> steps) {
  Program program = one_cta(std::move(steps));
  program.maps.push_back({.spec = tensor(2), .from = 0});
  program.maps.push_back({.spec = tensor(2), .from = kZeroed});
  program.maps[1].spec.box = {64, 2};
  return program;
}

// 16 rows of two groups of 128 bytes.
Program matrix(const Step& step) {
  Program program = one_cta({step});
  program.window = 16384;
  program.maps[0].spec = {.type = DataType::u8,
                          .rank = 3,
                          .extent = {128, 16, 2},
                          .stride = {256, 128},
                          .box = {128, 16, 2},
                          .swizzle = Swizzle::b128};
  return program;
}

Program multiplying(const Wgmma& product) {
  Program program = one_cta({{.verb = Verb::wgmma, .offset = 32768}});
  program.window = 65536;
  program.products = {product};
  return program;
}

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
Program representative() {
  constexpr std::uint16_t kBoth = 3;
  const Step load{
      .verb = Verb::load, .hint = CacheHint::evict_first, .offset = 1024, .at = {-8, 3}};
  Program program = two_ctas({{.verb = Verb::poison, .ctas = kBoth, .bytes = 4096}});
  program.barriers = 4;
  program.payload.inverted = true;
  auto& steps = program.steps;
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.push_back({.verb = Verb::init, .ctas = kBoth, .barrier = i});
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.push_back({.verb = Verb::test, .ctas = kBoth, .barrier = i});
  steps.insert(steps.end(), {{.verb = Verb::cluster_sync, .ctas = kBoth},
                             {.verb = Verb::arrive_expect_tx, .of = 1, .bytes = 256},
                             {.verb = Verb::arrive_expect_tx, .barrier = 1, .bytes = 256},
                             load,
                             {.verb = Verb::delay, .ns = kSettleNs},
                             {.verb = Verb::arrive, .thread = 1, .count = 3},
                             {.verb = Verb::wait, .ns = kSettleNs},
                             {.verb = Verb::missing, .offset = 1024, .bytes = 256},
                             {.verb = Verb::cluster_sync, .ctas = kBoth},
                             {.verb = Verb::delay, .ctas = kBoth, .ns = kSettleNs}});
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.insert(steps.end(),
                 {{.verb = Verb::meter,
                   .ctas = kBoth,
                   .barrier = i,
                   .pending = 1,
                   .bytes = 1280,
                   .stride = 256,
                   .most = 1280},
                  {.verb = Verb::test, .ctas = kBoth, .barrier = i, .parity = kCurrentPhase}});
  const Step wait{.verb = Verb::wait, .parity = kLastPhase, .stops = true, .ns = kMustCompleteNs};
  steps.insert(
      steps.end(),
      {wait,
       {.verb = Verb::snapshot, .ctas = kBoth},
       {.verb = Verb::poison, .bytes = 4096},
       {.verb = Verb::arrive_expect_tx, .bytes = 256},
       load,
       wait,
       {.verb = Verb::snapshot},
       {.verb = Verb::delay, .ns = kLandNs},
       {.verb = Verb::meter, .parity = kCurrentPhase, .pending = 1, .bytes = 1024, .most = 1024},
       {.verb = Verb::test, .parity = kCurrentPhase}});
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.push_back({.verb = Verb::inval, .ctas = kBoth, .barrier = i});
  steps.insert(steps.end(), {{.verb = Verb::read, .ctas = kBoth, .thread = 255},
                             {.verb = Verb::write, .ctas = kBoth, .word = 0x1234},
                             {.verb = Verb::read, .ctas = kBoth, .thread = 255},
                             {.verb = Verb::cluster_sync, .ctas = kBoth}});
  return program;
}

// Four stores, with all the waits and looks that they can have.
Program representative_stores() {
  return with_checks(program_of(TileStore{.map = tensor(2),
                                          .at = {8, 0},
                                          .stores = kMaxStores,
                                          .wait = StoreWait::read,
                                          .empty_groups = 0b11111,
                                          .bystander = true,
                                          .hint = CacheHint::evict_first,
                                          .payload = {.seed = 17}}));
}

Program representative_end() {
  return with_checks(program_of(TileStore{
      .map = tensor(2), .stores = kMaxStores, .wait = StoreWait::only_read, .payload = {}}));
}

// One tile out and back, which threads work on.
Program representative_trip(TileWork work) {
  TensorMapSpec map{.type = DataType::f32, .extent = {32, 16}, .stride = {128}, .box = {32, 8}};
  return with_checks(program_of(TileRoundTrip{.from = map,
                                              .to = map,
                                              .load = {},
                                              .store = {},
                                              .work = work,
                                              .numbers = Numbers::small,
                                              .payload = {.seed = 17}}));
}

// A box that is prefetched, loaded and sent on.
Program representative_send() {
  return with_checks(two_ctas({{.verb = Verb::init, .ctas = 3},
                               {.verb = Verb::prefetch, .at = {-8, 3}},
                               {.verb = Verb::arrive_expect_tx, .bytes = 256},
                               {.verb = Verb::load, .offset = 1024, .at = {-8, 3}},
                               {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs},
                               {.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 64},
                               {.verb = Verb::cluster_sync, .ctas = 3},
                               {.verb = Verb::send, .of = 1, .offset = 1024, .bytes = 64}}));
}

// One map that becomes another one.
Program representative_map() {
  const Step expect{.verb = Verb::arrive_expect_tx, .bytes = 256};
  const Step load{.verb = Verb::load, .offset = 1024, .at = {-8, 3}};
  const Step wait{
      .verb = Verb::wait, .parity = kCurrentPhase, .stops = true, .ns = kMustCompleteNs};
  Step other = load;
  other.map = 1;
  return with_checks(remapped({{.verb = Verb::init},
                               {.verb = Verb::acquire, .scope = Scope::sys},
                               expect,
                               load,
                               wait,
                               {.verb = Verb::replace, .map = 1},
                               {.verb = Verb::acquire, .map = 1},
                               expect,
                               other,
                               wait}));
}

// A vector, and a sum of it.
Program representative_async() {
  return with_checks(two_ctas(
      {{.verb = Verb::init, .ctas = 3, .count = 2},
       {.verb = Verb::arrive_drop, .ctas = 2},
       {.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 16},
       {.verb = Verb::cluster_sync, .ctas = 3},
       {.verb = Verb::st_async, .of = 1, .bytes = 16, .at = {1024}, .word = 7},
       {.verb = Verb::wait, .ctas = 2, .stops = true, .ns = kMustCompleteNs},
       {.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 4},
       {.verb = Verb::cluster_sync, .ctas = 3},
       {.verb = Verb::red_async, .of = 1, .reduction = Reduction::add, .at = {1024}, .word = 7}}));
}

Program representative_product() {
  return with_checks(
      program_of(TileConsume{.type = MmaType::e4m3, .n = 32, .k = 128, .payload = {}}));
}

Program representative_read() {
  Program program = matrix({.verb = Verb::place_rows, .offset = 1024, .at = {8192}});
  program.steps.push_back(
      {.verb = Verb::read_columns, .offset = 8192, .stride = 256, .at = {512, 3}});
  return program;
}

TEST(Reproducer, HasAtMost200LinesForRepresentativePrograms) {
  std::set<Verb> verbs;
  for (const Program& program :
       {representative(), representative_stores(), representative_end(), representative_send(),
        representative_map(), representative_async(), representative_product(),
        representative_read(), representative_trip(TileWork::add_one),
        representative_trip(TileWork::thread_copy)}) {
    const std::string source = cuda_reproducer(program, kWords);
    EXPECT_LE(program.steps.size(), 45U);
    EXPECT_LE(lines_of(source).size(), 200U) << source;
    expect_narrow(source);
    for (const Step& step : program.steps) verbs.insert(step.verb);
  }
  EXPECT_EQ(representative().steps.size(), 45U);
  EXPECT_EQ(verbs.size(), kVerbs - 2) << "all but expect_tx and complete_tx, which a meter has";
}

TEST(Reproducer, SaysEachStepInItsOrder) {
  const std::string source = cuda_reproducer(representative(), kWords);
  std::size_t at = 0;
  for (std::size_t i = 0; i < representative().steps.size(); ++i) {
    at = source.find(fmt::format("// step {}: ", i), at);
    ASSERT_NE(at, std::string::npos) << i << '\n' << source;
  }
  EXPECT_EQ(source.find(fmt::format("// step {}: ", representative().steps.size())),
            std::string::npos);
}

TEST(Reproducer, IsTheSameEachTime) {
  EXPECT_EQ(cuda_reproducer(representative(), kWords), cuda_reproducer(representative(), kWords));
}

TEST(Reproducer, SaysWhatIsExpectedAndWasSeen) {
  const std::string source = cuda_reproducer(one_cta({}), kWords);
  EXPECT_TRUE(
      source.starts_with("// A phase completes 16 bytes early\n"
                         "// Expected: residue 0 on barrier 0 of CTA 0\n"
                         "// Seen: residue -16 in 3 of 100 runs on SM 17\n"))
      << source;
  EXPECT_NE(source.find("  std::puts(\"expected: residue 0 on barrier 0 of CTA 0\");"),
            std::string::npos);
}

TEST(Reproducer, WordsOfAReportAreNoCode) {
  const Program program = one_cta({{.verb = Verb::init}});
  const ReproducerWords plain{.title = "a", .expected = "a", .seen = "a"};
  const std::string expected = code_of(cuda_reproducer(program, plain));
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(TIDEMARK_HOSTILE_WORDS)) {
    const std::string words = read_file(file.path());
    const std::string source =
        cuda_reproducer(program, {.title = words, .expected = words, .seen = words});
    EXPECT_EQ(code_of(source), expected) << file.path() << '\n' << source;
    ++files;
  }
  EXPECT_GE(files, 7U);
}

TEST(Reproducer, WordsOfAReportArePrintedAsTheyStand) {
  const std::string source = cuda_reproducer(
      one_cta({}), {.title = "t", .expected = "e", .seen = R"raw(a "b" \ )words" ?)raw"});
  EXPECT_NE(source.find(R"raw(puts("seen before: a \"b\" \\ )words\" \?");)raw"), std::string::npos)
      << source;
}

TEST(Reproducer, LeavesOutWhatNoStepNeeds) {
  const std::string source =
      cuda_reproducer(one_cta({{.verb = Verb::init}, {.verb = Verb::delay, .ns = 1}}), kWords);
  for (const std::string_view name :
       {"stopped", "phase[", "trace", "windows", "PTX_TEST", "meter", "load_2d", "poison_byte",
        "kSteps", "normal(", "u8* region0) {", "fill("})
    EXPECT_EQ(source.find(name), std::string::npos) << name << '\n' << source;
}

TEST(Reproducer, TakesStepsInTheThreadsThatAreNamed) {
  const std::string source = cuda_reproducer(
      [] {
        Program program = two_ctas({{.verb = Verb::arrive, .ctas = 3, .thread = 3, .count = 32},
                                    {.verb = Verb::arrive, .ctas = 2, .count = 256},
                                    {.verb = Verb::arrive, .thread = 192, .count = 64},
                                    {.verb = Verb::init, .ctas = 5, .thread = 7},
                                    {.verb = Verb::snapshot, .ctas = 2},
                                    {.verb = Verb::snapshot, .ctas = 7}});
        program.cluster = {3, 1, 1};
        return program;
      }(),
      kWords);
  for (const std::string_view line :
       {"  if (next((0x3 >> cta & 1) && t >= 3 && t < 35)) arrive(bar0); ",
        "  if (next(cta == 1)) arrive(bar0); ", "  if (next(cta == 0 && t >= 192)) arrive(bar0); ",
        "  if (next((0x5 >> cta & 1) && t == 7)) init(bar0, 1); ",
        "  if (cta == 1) snapshot(4, 0); ", "  snapshot(5, 1); "})
    EXPECT_NE(source.find(line), std::string::npos) << line << '\n' << source;
}

TEST(Reproducer, BehindLeaveOneThreadTakesStepsBackToBack) {
  const std::string source =
      cuda_reproducer(one_cta({{.verb = Verb::fill, .bytes = 4096},
                               {.verb = Verb::leave, .thread = 32},
                               {.verb = Verb::store, .thread = 32},
                               {.verb = Verb::commit, .thread = 32},
                               {.verb = Verb::wait_group_read, .thread = 32, .pending = 2}}),
                      kWords);
  std::size_t at = 0;
  for (const std::string_view line :
       {"  if (!next(t == 32)) return; ", "\n  store_2d(0, &map0, 0, 0); ", "\n  commit(); ",
        "\n  wait_group_read<2>(); "}) {
    at = source.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << '\n' << source;
  }
}

TEST(Reproducer, ACtaThatStoppedTakesNothingBehindLeave) {
  Program program = one_cta(
      {{.verb = Verb::wait, .stops = true, .ns = 1}, {.verb = Verb::leave}, {.verb = Verb::store}});
  const std::string source = cuda_reproducer(program, kWords);
  EXPECT_NE(source.find("{ return __syncthreads(), taker && !stopped[blockIdx.x]; }"),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("  if (!next(t == 0)) return; "), std::string::npos) << source;
}

TEST(Reproducer, TheThreadThatWaitsForReadsIsNamedAndAllOverwrite) {
  Program program = two_ctas({{.verb = Verb::wait_group_read,
                               .ctas = 2,
                               .thread = 3,
                               .pending = 4,
                               .offset = 1024,
                               .bytes = 256}});
  program.maps[0].spec.type = DataType::tf32;
  const std::string source = cuda_reproducer(program, kWords);
  EXPECT_NE(
      source.find("  if (next(cta == 1)) { if (t == 3) wait_group_read<4>(); __syncthreads(); "
                  "fill(1024, 256, ~normal(source_word(i), 0x7fe000)); }\n"),
      std::string::npos)
      << source;
}

TEST(Reproducer, TheKernelTakesTheRegionsThatItReads) {
  Program program = one_cta({{.verb = Verb::wait_group, .region = 2, .word = 1032},
                             {.verb = Verb::look, .thread = 32, .region = 2, .word = 16}});
  program.regions = {{.bytes = 16384}, {.bytes = 16}, {.bytes = 16384}};
  const std::string source = cuda_reproducer(program, kWords);
  for (const std::string_view part :
       {"map0,\n    u8* region2) {", "reproduce<<<1, kThreads, kWindow + 1023>>>(map0, region2);",
        "if (next(t == 0)) wait_group<0>(), trace[0][cta] = {'r', *(u64*)(region2 + 1032)};",
        "if (next(t == 32)) trace[1][cta] = {'r', __ldcv((u64*)(region2 + 16))};"})
    EXPECT_NE(source.find(part), std::string::npos) << part << '\n' << source;
}

TEST(Reproducer, AWaitForGroupsThatReadsNothingLeavesNoTrace) {
  const std::string source = cuda_reproducer(one_cta({{.verb = Verb::wait_group}}), kWords);
  EXPECT_NE(source.find("  if (next(t == 0)) wait_group<0>(); "), std::string::npos) << source;
  EXPECT_EQ(source.find("trace"), std::string::npos) << source;
}

TEST(Reproducer, RefusesAProgramThatIsNotSound) {
  EXPECT_THROW(cuda_reproducer(one_cta({{.verb = Verb::load, .map = 1}}), kWords), Error);
}

TEST_F(Compiled, RepresentativeProgramsToExecutables) {
  for (const Program& program :
       {representative(), representative_stores(), representative_end(), representative_send(),
        representative_async(), representative_map(), representative_product(),
        representative_read(), remapped({{.verb = Verb::replace, .map = 2, .scope = Scope::sys}})})
    executable(cuda_reproducer(program, kWords));
}

TEST_F(Compiled, APlainProgramToAnExecutable) {
  executable(cuda_reproducer(one_cta({{.verb = Verb::init}}), kWords));
}

TEST_F(Compiled, AProgramOfNothing) { ptx_of(cuda_reproducer(Program{}, kWords)); }

TEST_F(Compiled, MemoryOfEverySourceAndTheLargestCluster) {
  Program program = two_ctas({{.verb = Verb::cluster_sync, .ctas = 0xffff},
                              {.verb = Verb::load, .ctas = 0x8000, .map = 1}});
  program.cluster = {16, 1, 1};
  program.regions = {{.bytes = 16384, .source = MemorySource::device},
                     {.bytes = 16384, .source = MemorySource::async},
                     {.bytes = 16384, .source = MemorySource::pinned},
                     {.bytes = 16384, .source = MemorySource::mapped, .element = DataType::f32_ftz},
                     {.bytes = 16384, .source = MemorySource::edge, .cold = true},
                     {.bytes = 16384, .source = MemorySource::peer, .element = DataType::tf32}};
  program.maps = {{.spec = tensor(1)},
                  {.spec = tensor(5), .region = 3},
                  {.spec = {.rank = 0xffffffff, .extent = {0xffffffffffffffff}}}};
  const std::string source = cuda_reproducer(program, kWords);
  expect_narrow(source);
  executable(source);
}

TEST_F(Compiled, WordsOfEveryKind) {
  const std::string longest(300, 'x');
  const std::string source = cuda_reproducer(
      one_cta({}), {.title = "ends with \\",
                    .expected = R"({"op": "tile_load", "at": "\n"} %d /* */ " )" + longest + " ??",
                    .seen = "two\nlines\r\n\tand \xce\xbcs \x7f"});
  expect_narrow(source);
  executable(source);
}

// What the functions of the file give has to be what kernels/ops says.
TEST_F(Compiled, MulticastsOfEveryRankInAClusterOfThreeDimensions) {
  Program program = one_cta({});
  program.cluster = {2, 2, 2};
  for (std::uint8_t map = 0; map < 5; ++map) {
    program.maps.resize(map + 1U);
    program.maps[map].spec = tensor(map + 1U);
    program.steps.push_back({.verb = Verb::load, .map = map, .mask = 0x81});
    program.steps.push_back(
        {.verb = Verb::load, .map = map, .hint = CacheHint::evict_first, .mask = 0x81});
  }
  const std::string source = cuda_reproducer(program, kWords);
  EXPECT_EQ(source.find("blockIdx.x"), std::string::npos) << source;
  const std::string ptx = ptx_of(source);
  for (const std::string_view form :
       {"1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [",
        "5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [",
        "5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        ".L2::cache_hint ["})
    EXPECT_NE(ptx.find(form), std::string::npos) << form;
}

TEST_F(Compiled, FillsOfEveryElement) {
  Program program = one_cta({});
  program.maps = {{.spec = tensor(2)}, {.spec = tensor(2)}, {.spec = tensor(2)}};
  program.maps[1].spec.type = DataType::f32_ftz;
  program.maps[2].spec.type = DataType::tf32;
  program.regions[0].bytes = 32768;
  for (std::uint8_t map = 0; map < 3; ++map)
    program.steps.push_back({.verb = Verb::fill, .map = map, .offset = 16, .bytes = 64});
  const std::string source = cuda_reproducer(program, kWords);
  for (const std::string_view call :
       {"fill(16, 64, source_word(i));", "fill(16, 64, normal(source_word(i), 0x7fffff));",
        "fill(16, 64, normal(source_word(i), 0x7fe000));"})
    EXPECT_NE(source.find(call), std::string::npos) << source;
  ptx_of(source);
}

TEST_F(Compiled, SourcesAndPoisonAreThoseOfTheDevices) {
  for (const bool inverted : {false, true}) {
    Program program = one_cta({{.verb = Verb::poison, .bytes = 16}});
    program.payload = {.seed = 0xfedcba9876543210, .inverted = inverted};
    program.regions = {{.bytes = 16384, .element = DataType::bf16},
                       {.bytes = 16384, .element = DataType::f32_ftz},
                       {.bytes = 16384, .element = DataType::tf32_ftz},
                       {.bytes = 16384, .poison = true}};
    std::string source = cuda_reproducer(program, kWords);
    const auto expect_pair = [&](std::string_view code, DataType type, std::uint64_t i) {
      const std::uint64_t pair =
          source_element_word(program.payload, type, 2 * i) |
          std::uint64_t{source_element_word(program.payload, type, 2 * i + 1)} << 32;
      source += fmt::format("static_assert({} == {:#x});\n",
                            fmt::format(fmt::runtime(code), fmt::arg("i", i)), pair);
    };
    for (const std::uint64_t i : {0, 1, 2, 3, 2047}) {
      expect_pair("source_word({i})", DataType::bf16, i);
      expect_pair("normal(source_word({i}), 0x7fffff)", DataType::f32_ftz, i);
      expect_pair("normal(source_word({i}), 0x7fe000)", DataType::tf32, i);
    }
    for (const std::uint32_t i : {0, 1, 255, 256, 4711, 65535})
      source += fmt::format("static_assert(poison_byte({}, 3) == {});\n", i,
                            cta_poison_byte(program.payload, 3, i)) +
                fmt::format("static_assert(poison_byte({}, 0) == {});\n", i,
                            poison_byte(program.payload, i));
    for (const std::string_view word :
         {"= source_word(i);", "= normal(source_word(i), 0x7fffff);",
          "= normal(source_word(i), 0x7fe000);", "= poison_byte((u32)i, 0);"})
      EXPECT_NE(source.find(word), std::string::npos) << source;
    ptx_of(source);
  }
}

}  // namespace
}  // namespace tidemark::suite
