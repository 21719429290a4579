// Reads the values of options. Each throws UsageError with the option and what it should be.
#include "harness/command_line/option_values.hpp"

#include <gtest/gtest.h>

#include "harness/base/errors.hpp"
#include "kernels/fault.hpp"

namespace tidemark {
namespace {

using Items = std::vector<std::string>;

TEST(Items, are_divided_by_commas_and_spaces) {
  EXPECT_EQ(items_of("--cases", {"a,b", "c d", " e ,\tf, "}),
            (Items{"a", "b", "c", "d", "e", "f"}));
}

TEST(Items, of_nothing_are_none) { EXPECT_EQ(items_of("--cases", {}), Items{}); }

TEST(Items, an_argument_without_one_is_refused) {
  try {
    (void)items_of("--cases", {"a", ", "});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--cases ', ': names nothing; give a name, or leave --cases out");
  }
}

}  // namespace

namespace {

template <class Call>
std::string usage_error_of(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(LevelOf, knows_three_words) {
  EXPECT_EQ(level_of("quick"), Level::quick);
  EXPECT_EQ(level_of("nightly"), Level::nightly);
  EXPECT_EQ(level_of("soak"), Level::soak);
  EXPECT_EQ(usage_error_of([] { level_of("fast"); }),
            "--level 'fast': give quick, nightly or soak");
}

TEST(DeviceOf, knows_three_words) {
  EXPECT_EQ(device_of("auto"), DeviceChoice::automatic);
  EXPECT_EQ(device_of("cuda"), DeviceChoice::cuda);
  EXPECT_EQ(device_of("virtual"), DeviceChoice::virtual_device);
  EXPECT_EQ(usage_error_of([] { device_of("gpu"); }), "--device 'gpu': give auto, cuda or virtual");
}

TEST(TransportOf, knows_the_routes_and_auto) {
  EXPECT_EQ(transport_of("auto"), std::nullopt);
  EXPECT_EQ(transport_of("copy_engine"), PanelRoute::copy_engine);
  for (const PanelRoute route : kPanelRoutes)
    EXPECT_EQ(transport_of(std::string(name_of(route))), route);
  EXPECT_EQ(usage_error_of([] { transport_of("ib"); }),
            "--transport 'ib': give auto, nccl, nccl_overlap, copy_engine or mpi");
  EXPECT_EQ(transport_names(), "auto|nccl|nccl_overlap|copy_engine|mpi");
}

TEST(CheckTransport, refuses_what_a_device_does_not_know) {
  for (const DeviceKind device : {DeviceKind::cuda, DeviceKind::virtual_device})
    check_transport(std::nullopt, device);
  check_transport(PanelRoute::relay, DeviceKind::virtual_device);
  check_transport(PanelRoute::nccl, DeviceKind::cuda);
  check_transport(PanelRoute::nccl_overlap, DeviceKind::cuda);
  check_transport(PanelRoute::copy_engine, DeviceKind::cuda);
  EXPECT_EQ(usage_error_of([] { check_transport(PanelRoute::nccl, DeviceKind::virtual_device); }),
            "--transport 'nccl': the virtual device knows only mpi; give mpi, or leave it out");
  EXPECT_EQ(usage_error_of([] { check_transport(PanelRoute::relay, DeviceKind::cuda); }),
            "--transport 'mpi': between GPUs panels travel by nccl, nccl_overlap or "
            "copy_engine; give one of them, or leave it out");
}

TEST(WholeShape, is_a_square_of_n_unless_m_or_k_say_otherwise) {
  EXPECT_EQ(whole_shape({}), GemmShape());
  EXPECT_EQ(whole_shape({.n = 64}), (GemmShape{.m = 64, .n = 64, .k = 64}));
  EXPECT_EQ(whole_shape({.m = 8, .n = 64, .k = 9}), (GemmShape{.m = 8, .n = 64, .k = 9}));
  EXPECT_EQ(shape_text(whole_shape({.n = 64})), "--n 64");
  EXPECT_EQ(shape_text(whole_shape({.n = 64, .k = 8})), "--m 64 --n 64 --k 8");
}

TEST(WholeShape, refuses_sizes_without_n) {
  EXPECT_EQ(usage_error_of([] { whole_shape({.m = 64}); }),
            "--m '64': give --n, too: a product without it has its usual sizes");
  EXPECT_EQ(usage_error_of([] { whole_shape({.k = 64}); }),
            "--k '64': give --n, too: a product without it has its usual sizes");
}

TEST(LaunchFields, read_what_they_write) {
  LaunchOptions options{.level = Level::soak, .seed = 7, .row = 3, .fault = "drop", .launches = 2};
  options.slow = {{"gemm.x", 0.03}, {"gemm.y", 0.5}};
  options.product = {.shape = {.m = 5, .n = 6, .k = 7}, .grid = {.rows = 2, .cols = 4}};
  options.cases = {"gemm.*", "load.*"};
  for (const LaunchField& field : launch_fields()) {
    if (field.name == "--time-limit") continue;  // "90 s", for people
    LaunchOptions read;
    read_text(field, read, field.text(options));
    EXPECT_EQ(field.text(read), field.text(options)) << field.name;
  }
}

TEST(LaunchFields, refuse_sizes_beyond_their_bounds) {
  const auto read = [](const char* text) {
    LaunchOptions options;
    for (const LaunchField& field : launch_fields())
      if (field.name == "--n") field.read(options, {text});
  };
  EXPECT_EQ(usage_error_of([&] { read("0"); }), "--n '0': give a whole number, 1 to 1048576");
  for (const char* text : {"1048577", "-1", "8k", "1e4", " 8", "99999999999999999999"})
    EXPECT_THROW(read(text), UsageError) << text;
}

TEST(GridOf, reads_rows_and_columns) {
  EXPECT_EQ(grid_of("2x4"), (Grid{.rows = 2, .cols = 4}));
  EXPECT_EQ(grid_text(grid_of("1x16")), "1x16");
  EXPECT_EQ(usage_error_of([] { grid_of("8"); }),
            "--grid '8': give rows x columns of ranks, each at least 1, such as 2x4");
  for (const char* text :
       {"", "x", "2x", "x4", "0x4", "2x0", "2x4x1", "2 x 4", "-2x4", "2X4", "99999999999x1"}) {
    EXPECT_THROW(grid_of(text), UsageError) << text;
  }
}

TEST(CheckGrid, takes_a_place_for_every_gpu) {
  check_grid({.rows = 0, .cols = 0}, 3);
  check_grid({.rows = 2, .cols = 4}, 8);
  EXPECT_EQ(usage_error_of([] { check_grid({.rows = 2, .cols = 2}, 3); }),
            "--grid '2x2': has 4 places for 3 GPUs; give rows and columns that multiply to 3");
  EXPECT_THROW(check_grid({.rows = 65536, .cols = 65536}, 1), UsageError);
}

TEST(SlowOf, reads_a_case_and_a_share) {
  EXPECT_EQ(slow_of("gemm.local.speed=3%"),
            (std::pair<std::string, double>("gemm.local.speed", 0.03)));
  EXPECT_EQ(slow_of("a=100%").second, 1);
  EXPECT_EQ(slow_of("a=0.5%").second, 0.005);
}

TEST(SlowOf, refuses_what_is_no_share_of_a_hundredth_to_100_percent) {
  EXPECT_EQ(usage_error_of([] { slow_of("a=0%"); }),
            "--slow 'a=0%': give a benchmark and a share of 0.01 to 100 %, such as "
            "gemm.local.speed=3%");
  for (const char* text : {"a=-3%", "a=101%", "a=3", "a=%", "a=3%%", "a", "=3%", "a=nan%",
                           "a=1e-320%", "a=0.001%", "a=0x1%", ""}) {
    EXPECT_THROW(slow_of(text), UsageError) << text;
  }
}

TEST(PercentOf, is_what_slow_of_reads) { EXPECT_EQ(percent_of(0.03), "3%"); }

TEST(SeedOf, reads_decimal_and_hexadecimal_up_to_64_bits) {
  EXPECT_EQ(seed_of("0"), 0U);
  EXPECT_EQ(seed_of("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(seed_of("0x51d0c0ffee"), 0x51d0c0ffeeU);
  EXPECT_EQ(seed_of("0Xff"), 255U);
}

TEST(SeedOf, refuses_anything_else) {
  const std::string wanted = ": give a number of at most 64 bits, decimal or hexadecimal behind 0x";
  for (const char* text : {"", "-1", "0x", "12z", "18446744073709551616", " 1"}) {
    EXPECT_EQ(usage_error_of([&] { seed_of(text); }),
              "--seed '" + std::string(text) + "'" + wanted);
  }
}

TEST(CountOf, starts_at_the_least) {
  EXPECT_EQ(count_of("--ranks", "1", 1), 1U);
  EXPECT_EQ(count_of("--row", "0", 0), 0U);
}

TEST(CountOf, refuses_less_and_what_is_no_whole_number) {
  EXPECT_EQ(usage_error_of([] { count_of("--ranks", "0", 1); }),
            "--ranks '0': give a whole number, at least 1");
  EXPECT_EQ(usage_error_of([] { count_of("--row", "-1", 0); }),
            "--row '-1': give a whole number, at least 0");
  EXPECT_NE(usage_error_of([] { count_of("--ranks", "2.5", 1); }), "no UsageError");
  EXPECT_NE(usage_error_of([] { count_of("--ranks", "", 1); }), "no UsageError");
  EXPECT_NE(usage_error_of([] { count_of("--ranks", "4294967297", 1); }), "no UsageError");
}

TEST(SecondsOf, knows_seconds_minutes_and_hours) {
  EXPECT_EQ(seconds_of("--time-limit", "90"), 90);
  EXPECT_EQ(seconds_of("--time-limit", "90s"), 90);
  EXPECT_EQ(seconds_of("--time-limit", "5m"), 300);
  EXPECT_EQ(seconds_of("--time-limit", "1.5h"), 5400);
}

TEST(SecondsOf, refuses_nothing_less_than_nothing_and_other_units) {
  for (const char* text : {"", "0", "-5", "5d", "m", "inf", "nan"}) {
    EXPECT_EQ(usage_error_of([&] { seconds_of("--time-limit", text); }),
              "--time-limit '" + std::string(text) +
                  "': give a time above 0, such as 90, 90s, 5m or 1.5h");
  }
}

TEST(AmountOf, is_a_number_above_0_or_0_where_that_is_one) {
  EXPECT_EQ(amount_of("--rate", "790.5", "TFLOP/s"), 790.5);
  EXPECT_EQ(amount_of("--link", "1e3", "GB/s"), 1000);
  EXPECT_EQ(amount_of("--fixed-us", "0", "microseconds", true), 0);
}

TEST(AmountOf, refuses_all_else) {
  for (const char* text : {"", "0", "-1", "inf", "nan", "4x", " 4", "1e999"}) {
    EXPECT_EQ(usage_error_of([&] { amount_of("--link", text, "GB/s"); }),
              "--link '" + std::string(text) + "': give GB/s, above 0");
  }
  EXPECT_EQ(usage_error_of([] { amount_of("--fixed-us", "-1", "microseconds", true); }),
            "--fixed-us '-1': give microseconds, 0 or more");
}

TEST(CheckFault, takes_every_fault_there_is) {
  for (const FaultInfo& fault : faults())
    EXPECT_NO_THROW(check_fault(std::string(fault.name), DeviceChoice::virtual_device));
}

TEST(CheckFault, refuses_a_fault_of_a_gpu) {
  const std::string name(faults()[0].name);
  EXPECT_EQ(usage_error_of([&] { check_fault(name, DeviceChoice::automatic); }),
            "--fault '" + name +
                "': only the virtual device can be told to be wrong; add --device virtual");
}

TEST(CheckFault, suggests_the_nearest_or_names_some) {
  const std::string name(faults()[0].name);
  const std::string near =
      usage_error_of([&] { check_fault(name + "x", DeviceChoice::virtual_device); });
  EXPECT_NE(near.find("did you mean '" + name + "'"), std::string::npos) << near;
  const std::string far =
      usage_error_of([&] { check_fault("qqqqqqqqqqqqq", DeviceChoice::virtual_device); });
  EXPECT_NE(far.find("there are " + name + ", "), std::string::npos) << far;
}

}  // namespace

}  // namespace tidemark
