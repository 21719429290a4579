// What make_device makes, and what it refuses.
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

}  // namespace
}  // namespace tidemark
