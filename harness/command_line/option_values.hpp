// Reads the values of options, and knows what a mistyped word may have meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "kernels/device.hpp"
#include "kernels/transport.hpp"
#include "reports/compare/pairing.hpp"
#include "suite/gemm/product.hpp"

namespace tidemark {

// Lists on the command line.

/// The items of a list that was typed in one argument or in several, divided by commas and white
/// space. Throws UsageError where an argument has none: an empty variable of a script must not
/// stand for "all".
std::vector<std::string> items_of(std::string_view option, const std::vector<std::string>& typed);

// Reads the values of options. Each throws UsageError with the option, the value and what it should
// be.

/// Of --fail-on where outlier GPUs are all that can be named; empty: not given.
bool fails_on_outlier(const std::string& typed);

/// "quick", "nightly" or "soak".
Level level_of(const std::string& text);
std::string level_names();  // "quick|nightly|soak", as help and completion show them
std::string_view name_of(Level level);

/// "auto", "cuda" or "virtual".
DeviceChoice device_of(const std::string& text);
std::string_view name_of(DeviceChoice device);
std::string device_names();  // "auto|cuda|virtual"

/// "auto" (nothing is returned), or the name of a route.
std::optional<PanelRoute> transport_of(const std::string& text);
std::string_view name_of(const std::optional<PanelRoute>& transport);
std::string transport_names();  // "auto|nccl|...|mpi"

/// Throws where panels cannot travel by this route on any device of that kind.
void check_transport(const std::optional<PanelRoute>& transport, DeviceKind device);

/// Decimal, or hexadecimal behind 0x; 64 bits.
std::uint64_t seed_of(const std::string& text);

inline constexpr std::uint32_t kAnyCount = 0x7fffffff;  // 2^31 - 1

/// A whole number from `least` to `most`.
std::uint32_t count_of(std::string_view option, const std::string& text, std::uint32_t least,
                       std::uint32_t most = kAnyCount);

/// A number above 0, of `unit`; with `or_zero` 0 is one, too.
double amount_of(std::string_view option, const std::string& text, std::string_view unit,
                 bool or_zero = false);

/// "90", "90s", "5m" or "1.5h", in seconds, more than 0.
double seconds_of(std::string_view option, const std::string& text);

/// Of --m, --n and --k, 0 where not given: --n alone is a square, none of them no shape.
GemmShape whole_shape(const GemmShape& given);
std::string shape_text(const GemmShape& shape);  // "--n 8192" or "--m 8192 --n 4096 --k 2048"

/// --grid: "2x4", rows and columns.
Grid grid_of(const std::string& text);
std::string grid_text(const Grid& grid);  // "2x4"; empty where it has no rows

/// Throws where a grid is given and is not of so many ranks.
void check_grid(const Grid& grid, std::uint32_t ranks);

/// "gemm.local.speed=3%": a case, and the share above 0 and at most 1.
std::pair<std::string, double> slow_of(const std::string& text);

/// --pair: "uuid" or "number".
PairBy pair_by_of(const std::string& text);

/// --floor: 0.01 of 1 percent; above 0 and at most 50 percent.
double floor_of(double percent);

/// "5" of "5%" and "5 %".
std::string without_percent_sign(std::string text);

/// "3%" of 0.03, as slow_of reads it.
std::string percent_of(double share);

/// Throws where `name` is no fault of the virtual device, or the device is not chosen to be that.
void check_fault(const std::string& name, DeviceChoice device);

// Finds what the user may have meant: the names nearest to a mistyped one.

/// Insertions, deletions, replacements and exchanges of neighbours that turn `pattern` into `name`;
/// a `*` in the pattern stands for any text and a `?` for any character, both free.
std::size_t edit_distance(std::string_view pattern, std::string_view name);

/// "did you mean 'a', 'b'?": the nearest of `names`, at most `count` that are equally near. Empty
/// when the nearest is further away than half the pattern's length.
std::string did_you_mean(std::string_view pattern, std::span<const std::string_view> names,
                         std::size_t count = 3);

// Words that people bring along from other tools, and what to type here.

/// "use --cases GLOB" for `--filter` of the verb run: what to type in the place of an option, or
/// empty where no other tool is known to have it. `verb` is empty before the verb.
std::string in_place_of(std::string_view verb, std::string_view option);

}  // namespace tidemark
