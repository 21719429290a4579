// Which blocks a mask serves, as it should and under each fault that takes it wrongly.
#include "kernels/virtual/multicast_delivery.hpp"

#include <gtest/gtest.h>

#include "kernels/virtual/multicast_load_faults.hpp"

namespace tidemark::kernels {
namespace {

using Ranks = std::vector<std::uint32_t>;

MulticastLoad along_x(std::uint32_t size, std::uint16_t mask) {
  return {.load = {}, .cluster = {size, 1, 1}, .mask = mask};
}

TEST(DestinationsOf, AreTheBitsOfTheMask) {
  EXPECT_EQ(destinations_of(along_x(8, 0b10010110), 0, kNoFault), (Ranks{1, 2, 4, 7}));
  EXPECT_EQ(destinations_of(along_x(16, 0x8001), 3, kNoFault), (Ranks{0, 15}));
}

TEST(DestinationsOf, AreRanksInAClusterOfAnyShape) {
  MulticastLoad cube = along_x(8, 0b01000010);
  cube.cluster = {2, 2, 2};
  EXPECT_EQ(destinations_of(cube, 0, kNoFault), (Ranks{1, 6}));
}

TEST(DestinationsOf, MissOneUnderTheFaultsThatMissOne) {
  EXPECT_EQ(destinations_of(along_x(4, 0b1110), 0, kFaultMulticastHighestMissed), (Ranks{1, 2}));
  EXPECT_EQ(destinations_of(along_x(4, 0b1011), 0, kFaultMulticastLowestMissed), (Ranks{1, 3}));
}

TEST(DestinationsOf, HaveOneMoreUnderTheFaultsThatAddOne) {
  EXPECT_EQ(destinations_of(along_x(4, 0b0010), 3, kFaultMulticastIssuerServed), (Ranks{1, 3}));
  EXPECT_EQ(destinations_of(along_x(4, 0b0010), 3, kFaultMulticastNextServed), (Ranks{1, 2}));
  EXPECT_EQ(destinations_of(along_x(4, 0b1000), 3, kFaultMulticastNextServed), (Ranks{3}));
}

TEST(DestinationsOf, AreTheIssuerAloneWhereTheMaskIsIgnored) {
  EXPECT_EQ(destinations_of(along_x(4, 0b0110), 3, kFaultMulticastIssuerOnly), (Ranks{3}));
}

TEST(DestinationsOf, MirrorAReversedMask) {
  EXPECT_EQ(destinations_of(along_x(8, 0b00000110), 0, kFaultMulticastMaskReversed), (Ranks{5, 6}));
}

TEST(DestinationsOf, EndAtFourUnderAMaskOfFourBits) {
  EXPECT_EQ(destinations_of(along_x(8, 0b01101001), 0, kFaultMulticastMaskFourBits), (Ranks{0, 3}));
}

TEST(DestinationsOf, CountFromTheIssuerWhereThatIsTheFault) {
  EXPECT_EQ(destinations_of(along_x(4, 0b0011), 3, kFaultMulticastMaskFromIssuer), (Ranks{0, 3}));
}

TEST(DestinationsOf, AreColumnsWhereOnlyXCounts) {
  MulticastLoad cube = along_x(8, 0b00000010);
  cube.cluster = {2, 2, 2};
  EXPECT_EQ(destinations_of(cube, 0, kFaultMulticastMaskByX), (Ranks{1, 3, 5, 7}));
}

TEST(DestinationsOf, CountAlongZWhereThatIsTheFault) {
  MulticastLoad cube = along_x(8, 0b00001010);
  cube.cluster = {2, 2, 2};  // bit 1 is (0, 0, 1), rank 4; bit 3 is (0, 1, 1), rank 6
  EXPECT_EQ(destinations_of(cube, 0, kFaultMulticastMaskZFastest), (Ranks{4, 6}));
}

TEST(EngineFault, IsOfOneBlockAlone) {
  const MulticastLoad multicast = along_x(4, 0b1011);
  EXPECT_NE(engine_fault(multicast, 3, kFaultMulticastCreditShort), kFaultMulticastCreditShort);
  EXPECT_EQ(engine_fault(multicast, 1, kFaultMulticastCreditShort), kFaultMulticastCreditShort);
  EXPECT_NE(engine_fault(multicast, 0, kFaultMulticastCreditTwice), kFaultMulticastCreditTwice);
  EXPECT_EQ(engine_fault(multicast, 1, kFaultMulticastCreditTwice), kFaultMulticastCreditTwice);
}

}  // namespace
}  // namespace tidemark::kernels
