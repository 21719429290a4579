// What make_device makes and refuses, and how much work slows a benchmark.
#include <gtest/gtest.h>

#include <string>

#include "kernels/device.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

TEST(MakeDevice, MakesTheVirtualDeviceWithItsFault) {
  const TileLoad load{.map = {.rank = 1, .extent = {64}, .box = {16}}, .payload = {.seed = 5}};
  const auto sound = make_device(DeviceKind::virtual_device);
  const auto broken = make_device(DeviceKind::virtual_device, fault_named("load_chunk_dropped"));
  const Program program = program_of(load);
  EXPECT_NE(sound->run_programs({&program, 1}).front().bytes,
            broken->run_programs({&program, 1}).front().bytes);
}

TEST(MakeDevice, RefusesAFaultOnAGpu) {
  try {
    make_device(DeviceKind::cuda, fault_named("load_chunk_dropped"));
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("virtual device only"), std::string::npos);
  }
}

// Holds how a share becomes extra work, and the extra work that the virtual device counts.

TEST(Slowdown, IsTheNearestNumberOfUnits) {
  EXPECT_EQ(extra_units(1024, 0.03), 31U);
  EXPECT_EQ(extra_units(256, 1.0), 256U);
}

TEST(Slowdown, IsNothingWhereNothingIsAsked) {
  EXPECT_EQ(extra_units(1024, 0), 0U);
  EXPECT_EQ(slowed_note(1024, 0, "reads"), "");
}

TEST(Slowdown, IsAtLeastOneUnit) { EXPECT_EQ(extra_units(256, 0.0001), 1U); }

TEST(Slowdown, IsAShareOfTheMedianWhereThereAreNoUnits) {
  EXPECT_DOUBLE_EQ(extra_ns({1000, 900'000, 2000}, 0.05), 100);
}

TEST(Slowdown, NeedsSamplesWithoutIt) { EXPECT_THROW(extra_ns({}, 0.05), Error); }

TileRead a_read() {
  TileRead read;
  read.load.map = {.type = DataType::u8,
                   .rank = 3,
                   .extent = {128, 16, 2},
                   .stride = {256, 128},
                   .box = {128, 16, 2}};
  return read;
}

TEST(Slowdown, OfAVirtualReadIsInTheCountedCycles) {
  const auto device = make_device(DeviceKind::virtual_device);
  const Measurement plain = device->measure(a_read(), {.samples = 1});
  const Measurement slowed = device->measure(a_read(), {.samples = 1, .slow = 0.5});
  ASSERT_EQ(slowed.samples.size(), 1U) << slowed.note;
  EXPECT_DOUBLE_EQ(slowed.samples[0].cycles, 1.5 * plain.samples.at(0).cycles);
  EXPECT_NE(slowed.note.find("slowed on purpose: 512 reads more than 1024"), std::string::npos)
      << slowed.note;
}

Gemm a_product() { return whole_product({5, 7, 9}, GemmInputs::small_integers); }

TEST(Slowdown, OfAVirtualProductIsATimeThatTheNoteTells) {
  const auto device = make_device(DeviceKind::virtual_device);
  const Measurement slowed = device->measure(a_product(), {.warmups = 3, .samples = 2, .slow = 1});
  EXPECT_EQ(slowed.samples.size(), 2U);
  EXPECT_NE(slowed.note.find("slowed on purpose: the host spins "), std::string::npos)
      << slowed.note;
}

TEST(Slowdown, OfAProductNeedsWarmUps) {
  const auto device = make_device(DeviceKind::virtual_device);
  EXPECT_THROW(device->measure(a_product(), {.warmups = 0, .samples = 2, .slow = 1}), Error);
}

}  // namespace

}  // namespace tidemark
