// The process that tries configurations: what is said of one that cannot, leaves, crashes or hangs.
#include "harness/tuning/tuner.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "reports/scratch_folder.hpp"

namespace tidemark::harness {
namespace {

const WorkerStart kReal{.program = TIDEMARK_BINARY};
constexpr GemmShape kProduct{.m = 64, .n = 64, .k = 64};

/// The environment of workers for the length of a test.
class Hook {
 public:
  explicit Hook(const char* text) { ::setenv("TIDEMARK_TEST_HOOK", text, 1); }
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;
  ~Hook() { ::unsetenv("TIDEMARK_TEST_HOOK"); }
};

TEST(Tuner, virtual_device_refuses_and_lives_on) {
  Tuner tuner(kReal, {});
  for (int i = 0; i < 2; ++i) {
    const Tuned tuned = tuner.tune(kProduct, 1);
    EXPECT_EQ(tuned.kind, Tuned::Kind::refused);
    EXPECT_EQ(tuned.reason, "the products of the virtual device have no configurations");
  }
}

TEST(Tuner, worker_that_crashes_is_lost) {
  const Hook hook("crash@ready");
  Tuner tuner(kReal, {});
  const Tuned tuned = tuner.tune(kProduct, 1);
  EXPECT_EQ(tuned.kind, Tuned::Kind::lost);
  EXPECT_EQ(tuned.reason,
            "its worker died by signal 11 (Segmentation fault); its last words: test hook: crash");
}

TEST(Tuner, worker_that_is_killed_from_outside_is_not_lost) {
  const Hook hook("kill@ready");
  Tuner tuner(kReal, {});
  EXPECT_EQ(tuner.tune(kProduct, 1).kind, Tuned::Kind::unusable);
}

TEST(Tuner, worker_that_hangs_is_killed_and_lost) {
  const Hook hook("hang@ready");
  Tuner tuner(kReal, {}, {.ready = 0.1, .grace = 0.1});
  const Tuned tuned = tuner.tune(kProduct, 0.1);
  EXPECT_EQ(tuned.kind, Tuned::Kind::lost);
  EXPECT_EQ(tuned.reason, "its worker was silent for 0 s");
}

TEST(Tuner, worker_does_not_take_a_table_that_has_changed) {
  const ScratchFolder folder;
  const std::string path = folder.file("t.json");
  std::ofstream(path) << json_of(embedded_gemm_table());
  Tuner tuner(kReal, {.gemm_table = path, .gemm_table_hash = "0123456789abcdef"});
  const Tuned tuned = tuner.tune(kProduct, 1);
  EXPECT_EQ(tuned.kind, Tuned::Kind::unusable);
  EXPECT_NE(tuned.reason.find("t.json: has changed since the launch began; run again"),
            std::string::npos)
      << tuned.reason;
}

TEST(Tuner, worker_takes_the_table_that_was_agreed_on) {
  const ScratchFolder folder;
  const std::string path = folder.file("t.json");
  std::ofstream(path) << json_of(embedded_gemm_table());
  Tuner tuner(kReal, {.gemm_table = path, .gemm_table_hash = hash_of(embedded_gemm_table())});
  EXPECT_EQ(tuner.tune(kProduct, 1).kind, Tuned::Kind::refused);
}

}  // namespace
}  // namespace tidemark::harness
