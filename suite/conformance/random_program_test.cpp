// Programs that are drawn: sound, predictable, different, and of every verb that they are meant to
// have.
#include "suite/conformance/tile.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "kernels/device.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kSeeds = 2000;

TEST(RandomProgram, FollowsFromItsSeedAlone) {
  EXPECT_EQ(random_program(7), random_program(7));
  EXPECT_NE(random_program(7).steps, random_program(8).steps);
}

TEST(RandomProgram, IsPredictedAndPassesOnTheVirtualDevice) {
  const auto device = make_device(DeviceKind::virtual_device);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program = random_program(splitmix64(seed));
    program.payload.seed = seed;
    ASSERT_EQ(unsound(program), "");
    const Program checked = with_checks(program);
    ProgramExpectation expected;
    ASSERT_NO_THROW(expected = predict(checked)) << program_json(program);
    const RunResult result = device->run_programs({&checked, 1}).front();
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    const auto found = compare(checked, expected, result, 0);
    ASSERT_TRUE(found.empty()) << found[0].text << "\n" << program_json(program);
  }
}

TEST(RandomProgram, HasEveryVerbOfItsMoves) {
  std::set<std::string_view> verbs;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    for (const Step& step : random_program(splitmix64(seed)).steps)
      verbs.insert(name_of(step.verb));
  EXPECT_EQ(verbs, (std::set<std::string_view>{
                       "init",         "inval",         "arrive",     "arrive_drop",
                       "arrive_token", "pending_count", "expect_tx",  "arrive_expect_tx",
                       "complete_tx",  "test",          "wait",       "load",
                       "store",        "commit",        "wait_group", "wait_group_read",
                       "cluster_sync", "delay",         "fill",       "add",
                       "copy",         "look",          "write",      "read",
                       "snapshot",     "send",          "prefetch",   "replace",
                       "acquire",      "st_async",      "red_async",  "place_rows",
                       "read_columns", "poison",        "missing",    "wgmma"}));
}

// A program whose observations are open proves nothing.
TEST(RandomProgram, LeavesFewObservationsOpen) {
  std::size_t observed = 0, open = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = with_checks(random_program(splitmix64(seed)));
    const ProgramExpectation expected = predict(program);
    for (std::size_t i = 0; i < program.steps.size(); ++i)
      for (std::uint32_t cta = 0; cta < ctas_of(program); ++cta) {
        const Verb verb = program.steps[i].verb;
        if (!takes(program.steps[i], cta) || (verb != Verb::test && verb != Verb::wait)) continue;
        ++observed;
        open += expected.trace[i * ctas_of(program) + cta].judged == 0 ? 1 : 0;
      }
  }
  EXPECT_LT(open * 20, observed) << open << " of " << observed;
}

}  // namespace
}  // namespace tidemark
