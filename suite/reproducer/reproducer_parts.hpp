// The parts of a CUDA reproducer: declarations, kernel, verbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

// What stands in front of the kernel: only what the rest of the file uses.

/// Declarations by their place in the file.
struct DeclarationTexts {
  std::string state, instructions, functions, host;
};

/// Those that `user`, the kernel and main(), needs.
DeclarationTexts declarations_for(const Program& program, std::string_view user);

/// The constants that `user`, the rest of the file, names.
std::string constants_for(const Program& program, std::string_view user);

/// Whether `text` has `name` as a word of its own.
bool mentions(std::string_view text, std::string_view name);

/// Whether a step takes a parity that is known only when it is taken.
bool keeps_phases(const Program& program);

/// Snapshot steps.
std::size_t snapshots_of(const Program& program);

// The kernel: the steps of a program as straight code.

/// The kernel `reproduce`, a line a step with its comment.
std::string kernel_text(const Program& program);

/// The regions that the kernel reads, which it takes as parameters behind the maps.
std::vector<std::size_t> regions_read(const Program& program);

/// The name of a map in the kernel, as an address.
std::string map_in_code(const Program& program, std::uint8_t map);

/// Coordinates of a copy by this map. A map of another rank than 1 to 5 is refused before the first
/// step.
std::uint32_t rank_of(const TensorMapSpec& spec);

/// Whether a step reads 8 bytes of a region.
bool reads_region(const Step& step);

/// The i-th 8 bytes of memory that is filled as a region of `element` is, in code.
std::string_view source_in_code(DataType element);

// How each verb reads: its comment, its call, its device function.

/// The texts of a verb. Comment and calls have the fields of formatted().
struct VerbText {
  Verb verb;
  std::string_view comment, call;
  std::string_view remote_call{};                  // where Step::of names a CTA
  std::string_view empty_call{};                   // where Step::bytes is 0: by one thread
  std::string_view function{}, remote_function{};  // name_of(verb), and with _remote
  char mark = 0;                                   // of what it leaves in the trace; 0: nothing
  std::string_view print{};                        // prints `seen`, what a step left there
};

/// One for each verb, in their order.
std::span<const VerbText> verb_texts();

const VerbText& text_of(Verb verb);

/// In the order of Reduction.
inline constexpr std::string_view kReduce = "reduce_";
inline constexpr std::string_view kStoreNames[kReductions] = {
    "store",      "reduce_add", "reduce_min", "reduce_max", "reduce_inc",
    "reduce_dec", "reduce_and", "reduce_or",  "reduce_xor"};

/// The operation of a reduction of `type`, and its type as PTX names it: "add" "u32", "and" "b32".
std::string_view operation_of(Reduction reduction);
std::string ptx_type(Reduction reduction, DataType type);

/// In the order of CacheHint.
inline constexpr std::string_view kPolicies[] = {"", "evict_normal", "evict_first", "evict_last"};

}  // namespace tidemark
