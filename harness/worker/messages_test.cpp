// What goes over the pipes comes back as it was.
#include "harness/worker/messages.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/worker/test_hook.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

TEST(Messages, an_outcome_survives_with_all_its_fields) {
  Outcome outcome;
  outcome.judgement = Judgement::fail;
  outcome.reason = "2 of 3 rows wrong";
  outcome.cuda_error = 715;
  outcome.device_spent = true;
  outcome.rows_planned = 4;
  outcome.rows_run = 3;
  outcome.rows_failed = 2;
  outcome.sm_rows_run = {0, 3};
  outcome.sm_rows_failed = {0, 2};
  outcome.notes = {"a note"};
  outcome.descriptors = 0xffffffffffffffffULL;
  outcome.miscompares.push_back({.row = 2,
                                 .parameters = "{\"a\":1}",
                                 .what = "byte",
                                 .coordinate = {1, -2, 3, 4, 5},
                                 .first_offset = 6,
                                 .wrong_bytes = 7,
                                 .expected = 8,
                                 .actual = 9,
                                 .text = "expected 8"});
  outcome.metrics.push_back({.name = "rate",
                             .unit = "TFLOP/s",
                             .higher_is_better = false,
                             .values = {0.1, std::numeric_limits<double>::quiet_NaN()},
                             .at_unix_s = {1.5, 2.5},
                             .seconds = {0.25, 0.5}});
  const std::string line = said_line(SaidOutcome{.case_name = "load.x", .outcome = outcome});
  const auto said = std::get<SaidOutcome>(said_in(line));
  EXPECT_EQ(said.case_name, "load.x");
  const Outcome& back = said.outcome;
  EXPECT_EQ(back.judgement, Judgement::fail);
  EXPECT_EQ(back.reason, "2 of 3 rows wrong");
  EXPECT_EQ(back.cuda_error, 715);
  EXPECT_TRUE(back.device_spent);
  EXPECT_EQ(back.rows_planned, 4U);
  EXPECT_EQ(back.rows_run, 3U);
  EXPECT_EQ(back.rows_failed, 2U);
  EXPECT_EQ(back.sm_rows_run, (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(back.sm_rows_failed, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(back.notes, std::vector<std::string>{"a note"});
  EXPECT_EQ(back.descriptors, 0xffffffffffffffffULL);
  ASSERT_EQ(back.miscompares.size(), 1U);
  const Miscompare& wrong = back.miscompares[0];
  EXPECT_EQ(wrong.row, 2U);
  EXPECT_EQ(wrong.parameters, "{\"a\":1}");
  EXPECT_EQ(wrong.what, "byte");
  EXPECT_EQ(wrong.coordinate, (std::array<std::int64_t, 5>{1, -2, 3, 4, 5}));
  EXPECT_EQ(wrong.first_offset, 6U);
  EXPECT_EQ(wrong.wrong_bytes, 7U);
  EXPECT_EQ(wrong.expected, 8U);
  EXPECT_EQ(wrong.actual, 9U);
  EXPECT_EQ(wrong.text, "expected 8");
  ASSERT_EQ(back.metrics.size(), 1U);
  const Metric& metric = back.metrics[0];
  EXPECT_EQ(metric.name, "rate");
  EXPECT_EQ(metric.unit, "TFLOP/s");
  EXPECT_FALSE(metric.higher_is_better);
  EXPECT_EQ(metric.values[0], 0.1);
  EXPECT_TRUE(std::isnan(metric.values[1]));
  EXPECT_EQ(metric.at_unix_s, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(metric.seconds, (std::vector<double>{0.25, 0.5}));
}

TEST(Messages, a_pass_of_rows_that_did_not_run_is_none) {
  const auto heard = [](std::uint32_t planned, std::uint32_t run, std::uint32_t left) {
    Outcome outcome;
    outcome.rows_planned = planned;
    outcome.rows_run = run;
    outcome.rows_left = left;
    return std::get<SaidOutcome>(
               said_in(said_line(SaidOutcome{.case_name = "load.x", .outcome = outcome})))
        .outcome;
  };
  EXPECT_EQ(heard(3, 3, 0).judgement, Judgement::pass);
  EXPECT_EQ(heard(3, 1, 2).judgement, Judgement::pass);  // another worker runs the others
  EXPECT_EQ(heard(3, 2, 0).judgement, Judgement::tool_error);
  EXPECT_EQ(heard(3, 2, 0).reason, "the worker said pass and has run 2 of 3 rows");
  EXPECT_EQ(heard(0, 0, 0).judgement, Judgement::tool_error);
}

TEST(Messages, that_a_case_waited_for_others_survives) {
  Outcome outcome;
  outcome.judgement = Judgement::others_late;
  const auto said = std::get<SaidOutcome>(
      said_in(said_line(SaidOutcome{.case_name = "gemm.x", .outcome = outcome})));
  EXPECT_EQ(said.outcome.judgement, Judgement::others_late);
}

TEST(Messages, result_of_a_program_survives) {
  RunResult result;
  result.fault = DeviceFault::timeout;
  result.code = -3;
  result.note = "step 4";
  result.bytes = {0x00, 0x7f, 0x80, 0xff};
  result.surroundings = {0xa5};
  result.trace = {0, 0xffffffffffffffffULL};
  result.sms = {131, 0};
  const auto said = std::get<SaidProgram>(said_in(said_line(SaidProgram{.result = result})));
  EXPECT_EQ(said.result.fault, DeviceFault::timeout);
  EXPECT_EQ(said.result.code, -3);
  EXPECT_EQ(said.result.note, "step 4");
  EXPECT_EQ(said.result.bytes, result.bytes);
  EXPECT_EQ(said.result.surroundings, result.surroundings);
  EXPECT_EQ(said.result.trace, result.trace);
  EXPECT_EQ(said.result.sms, result.sms);
}

TEST(Messages, bytes_that_are_not_hexadecimal_are_refused) {
  const std::string good =
      R"({"said":"program","fault":0,"code":0,"note":"","bytes":"0a","surroundings":"","trace":[],"sms":[]})";
  EXPECT_NO_THROW(said_in(good));
  std::string bad = good;
  bad.replace(bad.find("0a"), 2, "0g");
  EXPECT_THROW(said_in(bad), Error);
  bad.replace(bad.find("0g"), 2, "0");
  EXPECT_THROW(said_in(bad), Error);
}

TEST(Messages, a_setup_survives) {
  const ProductOptions product{.shape = {.m = 5, .n = 6, .k = 7}, .grid = {.rows = 2, .cols = 4}};
  const LaunchOptions options{.level = Level::soak,
                              .row = 7,
                              .fault = "drop",
                              .slow = {{"gemm.x", 0.03}},
                              .product = product};
  const Order order = order_in(order_line(SetupOrder{.device = DeviceKind::cuda,
                                                     .seed = 0xfedcba9876543210ULL,
                                                     .slot = 3,
                                                     .slots = 8,
                                                     .options = options}));
  const auto& setup = std::get<SetupOrder>(order);
  EXPECT_EQ(setup.device, DeviceKind::cuda);
  EXPECT_EQ(setup.seed, 0xfedcba9876543210ULL);
  EXPECT_EQ(setup.slot, 3U);
  EXPECT_EQ(setup.slots, 8U);
  EXPECT_EQ(setup.options.fault, "drop");
  EXPECT_EQ(setup.options.level, Level::soak);
  EXPECT_EQ(setup.options.row, 7);
  EXPECT_EQ(setup.options.slow, (std::map<std::string, double>{{"gemm.x", 0.03}}));
  EXPECT_EQ(setup.options.product, product);
}

TEST(Messages, the_route_of_a_transport_survives) {
  for (const std::optional<PanelRoute> route :
       {std::optional<PanelRoute>(), std::optional(PanelRoute::copy_engine)}) {
    const Order order =
        order_in(order_line(TransportOrder{.kind = TransportKind::nccl, .route = route}));
    EXPECT_EQ(std::get<TransportOrder>(order).route, route);
  }
  std::string bad = order_line(TransportOrder{.route = PanelRoute::relay});
  const std::string last = fmt::format("\"route\":{}", static_cast<int>(PanelRoute::relay));
  bad.replace(bad.find(last), last.size(), "\"route\":9");
  EXPECT_THROW(order_in(bad), Error);
}

TEST(Messages, an_nccl_id_survives) {
  NcclId id{};
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::byte>(2 * i + 1);
  EXPECT_EQ(std::get<SaidNcclId>(said_in(said_line(SaidNcclId{.id = id}))).id, id);
  const Order order = order_in(
      order_line(TransportOrder{.kind = TransportKind::nccl, .nccl_id = id, .seconds = 5}));
  EXPECT_EQ(std::get<TransportOrder>(order).nccl_id, id);
  EXPECT_EQ(std::get<TransportOrder>(order).kind, TransportKind::nccl);
}

TEST(Messages, broken_utf8_does_not_break_the_line) {
  const std::string line = said_line(SaidTrouble{.text = "bad \xff byte"});
  EXPECT_NE(std::get<SaidTrouble>(said_in(line)).text.find("byte"), std::string::npos);
}

TEST(Messages, what_is_no_message_is_an_error) {
  EXPECT_THROW(said_in(std::string("hello")), Error);
  EXPECT_THROW(said_in(std::string("{\"said\":\"nonsense\"}")), Error);
  EXPECT_THROW(said_in(std::string("{\"said\":\"progress\"}")), Error);
  EXPECT_THROW(order_in(std::string("[]")), Error);
}

TEST(TestHook, names_action_case_and_slot) {
  const auto hooks = test_hooks("hang@load.tile.rank2#1");
  ASSERT_NE(hook_at(hooks, "load.tile.rank2", 1), nullptr);
  EXPECT_EQ(hook_at(hooks, "load.tile.rank2", 1)->action, HookAction::hang);
  EXPECT_EQ(hook_at(hooks, "load.tile.rank2", 0), nullptr);
  EXPECT_EQ(hook_at(hooks, "load.tile.rank3", 1), nullptr);
}

TEST(TestHook, may_be_several_with_a_fault_beside_an_action) {
  const auto hooks = test_hooks("illegal@a#1 load_bit_flipped@a#1 crash@b");
  EXPECT_EQ(hook_at(hooks, "a", 1)->action, HookAction::illegal);
  EXPECT_EQ(fault_at(hooks, "a", 1), fault_named("load_bit_flipped"));
  EXPECT_EQ(fault_at(hooks, "a", 0), kNoFault);
  EXPECT_EQ(hook_at(hooks, "b", 3)->action, HookAction::crash);
}

TEST(TestHook, may_be_of_the_first_attempt_alone) {
  const auto hooks = test_hooks("kill_once@a#1");
  EXPECT_EQ(hook_at(hooks, "a", 1)->action, HookAction::kill);
  EXPECT_EQ(hook_at(hooks, "a", 1, 2), nullptr);
}

TEST(TestHook, is_absent_without_a_known_action) {
  EXPECT_TRUE(test_hooks(nullptr).empty());
  EXPECT_TRUE(test_hooks("").empty());
  EXPECT_TRUE(test_hooks("explode@x").empty());
}

}  // namespace
}  // namespace tidemark
