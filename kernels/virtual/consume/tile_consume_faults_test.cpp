// Every fault of a consumed tile must be seen on some row, and none where its step does not occur.
#include "kernels/virtual/consume/tile_consume_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/virtual/consume/tile_consume.hpp"

namespace tidemark::kernels {
namespace {

TileConsume row(MmaType type, Major major, Swizzle swizzle, std::uint32_t k,
                std::uint32_t base_offset = 0) {
  return {.type = type,
          .n = 64,
          .k = k,
          .a = {.major = major, .swizzle = swizzle, .read_as = swizzle, .base_offset = base_offset},
          .b = {.major = major, .swizzle = swizzle, .read_as = swizzle},
          .extent = {64, 64, k},
          .payload = {.seed = 11}};
}

bool is_visible(Fault fault, const TileConsume& op) {
  return run_virtual_tile_consume(op, fault).bytes != run_virtual_tile_consume(op, kNoFault).bytes;
}

TEST(TileConsumeFaults, ThereAreAtLeastTwelve) { EXPECT_GE(tile_consume_faults().size(), 12U); }

TEST(TileConsumeFaults, ValuesAscendFrom600To699) {
  std::uint32_t before = 600;
  for (const FaultInfo& info : tile_consume_faults()) {
    const auto value = static_cast<std::uint32_t>(info.fault);
    EXPECT_GT(value, before) << info.name;
    EXPECT_LT(value, 700U) << info.name;
    EXPECT_EQ(info.op, OpKind::tile_consume) << info.name;
    EXPECT_EQ(info.name.substr(0, 8), "consume_") << info.name;
    before = value;
  }
}

TEST(TileConsumeFaults, EachIsSeenOnSomeRow) {
  const std::vector<TileConsume> rows{row(MmaType::bf16, Major::k, Swizzle::b128, 128),
                                      row(MmaType::f16, Major::mn, Swizzle::b32, 32),
                                      row(MmaType::s8, Major::k, Swizzle::b64, 64),
                                      row(MmaType::u8, Major::k, Swizzle::none, 64),
                                      row(MmaType::e5m2, Major::k, Swizzle::b128, 128),
                                      row(MmaType::bf16, Major::k, Swizzle::b128, 64, 3)};
  for (const FaultInfo& info : tile_consume_faults())
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const TileConsume& op) {
      return is_visible(info.fault, op);
    })) << info.name;
}

TEST(TileConsumeFaults, AreHarmlessWhereTheirStepDoesNotOccur) {
  // One step, unswizzled, K-major, f16, base offset 0.
  const TileConsume plainest = row(MmaType::f16, Major::k, Swizzle::none, 16);
  for (const Fault fault :
       {kFaultConsumeSwizzleIgnored, kFaultConsumeSwizzleNarrower, kFaultConsumeSwizzleWider,
        kFaultConsumeSwizzleRelative, kFaultConsumeBaseOffsetIgnored, kFaultConsumeBaseOffsetAdded,
        kFaultConsumeReadAsWritten, kFaultConsumeZeroOnMismatch, kFaultConsumeMnAsK,
        kFaultConsumeAdvanceMissing, kFaultConsumeAdvanceHalved, kFaultConsumeSignLost,
        kFaultConsumeUnsignedAsSigned, kFaultConsumeBf16AsF16, kFaultConsumeE5m2AsE4m3,
        kFaultConsumeSaturatesAt16})
    EXPECT_FALSE(is_visible(fault, plainest)) << static_cast<std::uint32_t>(fault);
}

}  // namespace
}  // namespace tidemark::kernels
