// How each verb reads in a CUDA reproducer: its comment, its call, its device function.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

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
