// Every fault of a tile store must be seen on some row, and none where its step does not occur.
#include "kernels/virtual/copies/tile_store_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/tile_store.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

RunResult run(const TileStore& store, Fault fault = kNoFault) {
  return run_virtual_program(with_checks(program_of(store)), fault);
}

bool differ(const RunResult& a, const RunResult& b) {
  return a.fault != b.fault || a.code != b.code || a.surroundings != b.surroundings ||
         a.bytes != b.bytes || a.trace != b.trace;
}

bool is_visible(Fault fault, const TileStore& store) {
  return differ(run(store, fault), run(store));
}

TileStore row(const TensorMapSpec& map, std::array<std::int32_t, kMaxRank> at,
              std::uint32_t stores = 1, StoreWait wait = StoreWait::complete) {
  return {.map = map, .at = at, .stores = stores, .wait = wait, .payload = {.seed = 11}};
}

// u8, packed, unswizzled, nothing outside, one group: the steps below have nothing to do.
TileStore plainest() { return row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {0, 0}); }

std::vector<TileStore> rows() {
  TileStore off_by_16 = plainest();
  off_by_16.source_offset = 16;
  const auto behind = [](std::uint32_t offset) {
    TileStore store = plainest();
    store.source_offset = offset;
    return store;
  };
  TileStore phased = row({.rank = 3,
                          .extent = {128, 3, 4},
                          .stride = {128, 384},
                          .box = {128, 3, 4},
                          .swizzle = Swizzle::b128},
                         {0, 0, 0});
  phased.source_offset = 384;
  TileStore with_empty_groups =
      row({.extent = {64, 16}, .stride = {64}, .box = {64, 4}}, {0, 0}, 4);
  with_empty_groups.empty_groups = 0b11111;
  TileStore empty_behind = row({.extent = {64, 16}, .stride = {64}, .box = {64, 16}}, {0, 0});
  empty_behind.empty_groups = 0b10;
  TileStore watched = row({.extent = {64, 16}, .stride = {64}, .box = {64, 16}}, {0, 0});
  watched.bystander = true;
  const auto hinted = [](CacheHint hint) {
    TileStore store = plainest();
    store.hint = hint;
    return store;
  };
  // Beyond the first 4 KiB of its region.
  const auto in_memory = [](MemorySource memory) {
    TileStore store = row({.extent = {64, 96}, .stride = {64}, .box = {32, 4}}, {0, 88});
    store.destination = memory;
    return store;
  };
  const auto reduced = [](Reduction reduction, DataType type) {
    const auto pitch = 64 * element_bytes(type);
    TileStore store =
        row({.type = type, .extent = {64, 8}, .stride = {pitch}, .box = {64, 8}}, {0, 0});
    store.reduction = reduction;
    return store;
  };
  // Seven pieces of 16 bytes.
  const auto bulk = [](DataType type, std::uint32_t from) {
    const std::uint32_t elements = 112 / element_bytes(type);
    TileStore store = row({.type = type,
                           .rank = 1,
                           .extent = {std::uint64_t{2} * elements},
                           .box = {elements},
                           .bulk = true},
                          {0, 0});
    store.source_offset = from;
    return store;
  };
  TileStore upper =
      row({.extent = {64, 16}, .stride = {64}, .box = {32, 16}, .swizzle = Swizzle::b32}, {0, 0});
  upper.source_offset = 120 * 1024;
  TileStore reduced_in_bulk = bulk(DataType::u64, 0);
  reduced_in_bulk.reduction = Reduction::add;
  TileStore summed_up = reduced(Reduction::add, DataType::u32);
  summed_up.stores = 4;
  summed_up.one_box = true;
  return {
      plainest(),
      bulk(DataType::u8, 16),
      reduced_in_bulk,
      behind(80 * 1024),
      behind(160 * 1024),
      upper,
      row({.type = DataType::u64, .extent = {256, 2}, .stride = {2048}, .box = {256, 2}}, {0, 0}),
      summed_up,
      reduced(Reduction::add, DataType::u64),
      reduced(Reduction::min, DataType::u32),
      reduced(Reduction::max, DataType::s64),
      reduced(Reduction::inc, DataType::u32),
      reduced(Reduction::dec, DataType::u32),
      reduced(Reduction::bit_xor, DataType::u32),
      reduced(Reduction::add, DataType::f16),
      reduced(Reduction::min, DataType::f16),
      hinted(CacheHint::evict_first),
      hinted(CacheHint::evict_normal),
      hinted(CacheHint::evict_last),
      in_memory(MemorySource::pinned),
      in_memory(MemorySource::async),
      in_memory(MemorySource::mapped),
      phased,
      // Illegal: off 128 bytes in shared memory, off 16 bytes in dimension 0, before the tensor.
      off_by_16,
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {17, 0}),
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {0, -1}),
      reduced(Reduction::add, DataType::s64),  // which has no sums
      row({.type = DataType::u16,
           .rank = 3,
           .extent = {40, 9, 5},
           .stride = {96, 896},
           .box = {16, 4, 3},
           .base_offset = 48},
          {8, 2, 1}),
      row({.type = DataType::bf16, .extent = {64, 8}, .stride = {128}, .box = {16, 4}}, {16, 1}),
      row({.type = DataType::tf32, .extent = {64, 8}, .stride = {256}, .box = {16, 4}}, {16, 1}),
      row({.type = DataType::u64, .extent = {16, 8}, .stride = {128}, .box = {4, 4}}, {2, 1}),
      row({.type = DataType::f32_ftz, .extent = {64, 8}, .stride = {256}, .box = {16, 4}}, {16, 1}),
      // f32, 13 x 5: over the right edge and below; right alone; below alone.
      row({.type = DataType::f32, .extent = {13, 5}, .stride = {96}, .box = {16, 4}}, {4, 3}),
      row({.type = DataType::f32, .extent = {12, 5}, .stride = {96}, .box = {16, 4}}, {4, 1}),
      row({.type = DataType::f32, .extent = {16, 5}, .stride = {96}, .box = {8, 4}}, {4, 3}),
      row({.rank = 1, .extent = {64}, .box = {16}}, {65536}),
      row({.extent = {64, 16}, .stride = {64}, .box = {64, 16}, .swizzle = Swizzle::b64}, {0, 0}),
      row({.extent = {64, 16}, .stride = {64}, .box = {64, 4}}, {0, 0}, 4),
      row({.extent = {64, 16}, .stride = {64}, .box = {64, 4}}, {0, 0}, 4, StoreWait::read),
      with_empty_groups,
      empty_behind,
      watched,
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 5}, .element_stride = {1, 2, 1, 1, 1}},
          {0, 1}),
  };
}

// Rows 2^32 and 2^36 bytes apart, and a box beyond the first 2^32 bytes.
std::vector<TileStore> far_rows() {
  constexpr std::uint64_t kBit32 = std::uint64_t{1} << 32;
  std::vector<TileStore> rows{
      row({.extent = {64, 3}, .stride = {kBit32 + 4096}, .box = {64, 2}}, {0, 1}),
      row({.extent = {64, 3}, .stride = {16 * kBit32 + 4096}, .box = {64, 2}}, {0, 1}),
      row({.extent = {64, kBit32 / 2}, .stride = {64}, .box = {64, 4}}, {0, 1 << 27}),
      row({.extent = {64, kBit32}, .stride = {64}, .box = {64, 4}}, {0, 1 << 27}),  // illegal
  };
  for (TileStore& far : rows) far.destination = MemorySource::mapped;
  return rows;
}

std::vector<TileStore> all_rows() {
  std::vector<TileStore> all = rows(), far = far_rows();
  all.insert(all.end(), far.begin(), far.end());
  return all;
}

TEST(TileStoreFaults, ValuesAscendWithinTheirTwoRanges) {
  std::uint32_t before = 300;
  for (const FaultInfo& info : tile_store_faults()) {
    const auto value = static_cast<std::uint32_t>(info.fault);
    EXPECT_GT(value, before) << info.name;
    EXPECT_TRUE(value < 400 || (value >= 960 && value < 980)) << info.name;
    before = value;
  }
}

TEST(TileStoreFaults, EachIsVisibleOnSomeRow) {
  const std::vector<TileStore> all = all_rows();
  for (const FaultInfo& info : tile_store_faults())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const TileStore& store) {
      return is_visible(info.fault, store);
    })) << info.name;
}

TEST(TileStoreFaults, NoTwoDoTheSameOnEveryRow) {
  const std::vector<TileStore> all = all_rows();
  const auto faults = tile_store_faults();
  for (std::size_t i = 0; i < faults.size(); ++i)
    for (std::size_t j = i + 1; j < faults.size(); ++j)
      EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const TileStore& store) {
                                return differ(run(store, faults[i].fault),
                                              run(store, faults[j].fault));
                              }))
          << faults[i].name << " and " << faults[j].name;
}

TEST(TileStoreFaults, HarmlessWhereTheirStepDoesNotOccur) {
  const std::vector<Fault> idle = {kFaultStoreElementStrideIgnored,
                                   kFaultStoreElementStrideRoundsDown,
                                   kFaultStoreEmptyUncounted,
                                   kFaultStoreEmptyEndsWait,
                                   kFaultStoreOtherWaitTakes,
                                   kFaultStoreStridesExchanged,
                                   kFaultStoreStridesPacked,
                                   kFaultStoreBaseOffsetIgnored,
                                   kFaultStoreStartExchanged,
                                   kFaultStoreStartTruncated,
                                   kFaultStoreBf16AsFourBytes,
                                   kFaultStoreTf32AsTwoBytes,
                                   kFaultStoreFirstTileAgain,
                                   kFaultStoreUpperInnerExact,
                                   kFaultStoreUpperInnerLong,
                                   kFaultStoreUpperInnerShort,
                                   kFaultStoreUpperInnerTo32,
                                   kFaultStoreUpperInnerIgnored,
                                   kFaultStoreUpperOuterLong,
                                   kFaultStoreUpperOuterShort,
                                   kFaultStoreInnerOverhangDropped,
                                   kFaultStoreOuterOverhangDropped,
                                   kFaultStoreWideHalvesExchanged,
                                   kFaultStoreU16BytesExchanged,
                                   kFaultStoreFtzAsTf32,
                                   kFaultStoreSwizzleIgnored,
                                   kFaultStoreSwizzleNarrower,
                                   kFaultStoreSwizzleWider,
                                   kFaultStoreSwizzleRelative,
                                   kFaultStoreSwizzleRowShifted,
                                   kFaultStoreSwizzlePlaneAnew,
                                   kFaultStoreYoungerGroupsLost,
                                   kFaultStoreYoungestFirst,
                                   kFaultStoreReadWaitEarly,
                                   kFaultStoreReadWaitAtOnce,
                                   kFaultStoreMisalignedRoundedDown,
                                   kFaultStoreMisalignedTo16,
                                   kFaultStoreMisalignedAs719,
                                   kFaultStoreInnerRoundedDown,
                                   kFaultStoreInnerAtElement,
                                   kFaultStoreIllegalAs700,
                                   kFaultStoreNegativeClipped,
                                   kFaultStoreErrorLost,
                                   kFaultStoreEvictFirstDropsChunk,
                                   kFaultStoreEvictLastHalvesChunk,
                                   kFaultStoreEvictNormalFlipsBit,
                                   kFaultStorePinnedShort,
                                   kFaultStoreAsyncShifted,
                                   kFaultStoreMappedRepeats};
  for (const Fault fault : idle)
    EXPECT_FALSE(is_visible(fault, plainest())) << static_cast<int>(fault);
}

TEST(TileStoreFaults, EachCanBeSaidInALine) {
  for (const FaultInfo& info : tile_store_faults()) {
    EXPECT_EQ(info.op, OpKind::tile_store);
    EXPECT_TRUE(info.name.starts_with("store_") || info.name.starts_with("reduce_")) << info.name;
    EXPECT_NE(info.step.find(": "), std::string_view::npos) << info.name;
  }
}

// The faults that come near being right, each against the one thing it changes.

TEST(TileStoreFaults, ExactRowsSpareThePadding) {
  const TileStore store = row({.rank = 1, .extent = {37}, .box = {48}}, {0});
  RunResult right = run(store);
  const RunResult wrong = run(store, kFaultStoreUpperInnerExact);
  EXPECT_NE(wrong.surroundings, right.surroundings);
  for (std::size_t i = 37; i < 48; ++i)
    right.surroundings[1024 + i] = poison_byte({.seed = 11}, 1024 + i);
  EXPECT_EQ(wrong.surroundings, right.surroundings);
}

TEST(TileStoreFaults, BitFlippedChangesOneBit) {
  const RunResult right = run(plainest());
  RunResult wrong = run(plainest(), kFaultStoreBitFlipped);
  wrong.surroundings[1024 + 3 * 64 + 16 + 5] ^= 0x08;
  EXPECT_EQ(wrong.surroundings, right.surroundings);
}

TEST(TileStoreFaults, AnEarlyWaitStoresAllTheSame) {
  const RunResult right = run(plainest());
  const RunResult wrong = run(plainest(), kFaultStoreWaitEarly);
  EXPECT_EQ(wrong.surroundings, right.surroundings);
  EXPECT_NE(wrong.trace, right.trace);
}

TEST(TileStoreFaults, AnEarlyReadWaitStoresWhatCameLater) {
  TileStore store = plainest();
  store.wait = StoreWait::read;
  RunResult wrong = run(store, kFaultStoreReadWaitEarly);
  const RunResult right = run(store);
  for (std::size_t i = 0; i < 16; ++i)
    wrong.surroundings[1024 + 3 * 64 + 16 + i] =
        static_cast<std::uint8_t>(~wrong.surroundings[1024 + 3 * 64 + 16 + i]);
  EXPECT_EQ(wrong.surroundings, right.surroundings);
}

TEST(TileStoreFaults, ClippedStoresWhatLiesInsideTheTensor) {
  TileStore store = plainest();
  store.at = {-16, -1};  // 16 of 32 bytes and 3 of 4 rows lie inside
  const RunResult wrong = run(store, kFaultStoreNegativeClipped);
  ASSERT_EQ(wrong.fault, DeviceFault::none);
  std::uint32_t written = 0;
  for (std::size_t i = 0; i < wrong.surroundings.size(); ++i)
    if (wrong.surroundings[i] != poison_byte({.seed = 11}, i)) {
      ++written;
      EXPECT_GE(i, 1024U);
      EXPECT_LT((i - 1024) % 64, 16U);
      EXPECT_LT((i - 1024) / 64, 3U);
    }
  EXPECT_GT(written, 40U);  // of 48, but for bytes that happen to be those of the poison
}

TEST(TileStoreFaults, ANegativeStartCanBeReportedAsABadAddress) {
  TileStore store = plainest();
  store.at[1] = -1;
  const RunResult wrong = run(store, kFaultStoreIllegalAs700);
  EXPECT_EQ(wrong.fault, DeviceFault::sticky);
  EXPECT_EQ(wrong.code, 700);
}

TEST(TileStoreFaults, ALostErrorStoresNothing) {
  TileStore store = plainest();
  store.source_offset = 8;
  const RunResult wrong = run(store, kFaultStoreErrorLost);
  ASSERT_EQ(wrong.fault, DeviceFault::none);
  EXPECT_EQ(wrong.surroundings[1024], poison_byte({.seed = 11}, 1024));
  EXPECT_EQ(wrong.surroundings[1024 + 3 * 64 + 31], poison_byte({.seed = 11}, 1024 + 3 * 64 + 31));
}

TEST(TileStoreFaults, EachHintHasAFaultThatTheOthersAreSafeFrom) {
  TileStore store = plainest();
  store.hint = CacheHint::evict_last;
  EXPECT_TRUE(is_visible(kFaultStoreEvictLastHalvesChunk, store));
  EXPECT_FALSE(is_visible(kFaultStoreEvictFirstDropsChunk, store));
  EXPECT_FALSE(is_visible(kFaultStoreEvictNormalFlipsBit, store));
}

TEST(TileStoreFaults, MappedMemoryRepeatsItsFirstPage) {
  TileStore store = row({.extent = {64, 96}, .stride = {64}, .box = {32, 4}}, {0, 88});
  store.destination = MemorySource::mapped;
  const RunResult wrong = run(store, kFaultStoreMappedRepeats);
  const std::size_t at = 1024 + 88 * 64;
  EXPECT_EQ(wrong.surroundings[at], poison_byte({.seed = 11}, at));
  EXPECT_EQ(wrong.surroundings[at - 4096], source_byte({.seed = 11}, 1024));
}

}  // namespace
}  // namespace tidemark
