// Programs as JSON, lossless in both directions: a program can be kept, sent, diffed and run again.
#pragma once

#include <string>
#include <string_view>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// The program as JSON: one object with one line a region, map and step, so that two programs can
/// be diffed. Operands of a step that have their default value are left out, whatever its verb.
/// Lists of coordinates have at least `rank` entries; entries past the end of a list have their
/// default value. A value outside its enum or parities is written as its number, which
/// program_from_json() refuses.
std::string program_json(const Program& program);

/// Reads what program_json() writes. Throws Error with one line: `name` (the file), where (JSON
/// pointer), what is wrong, what to do. Refuses members that are unknown, missing or given twice,
/// and all values that their member cannot hold. Does not check the result with unsound().
Program program_from_json(std::string_view text, const std::string& name);

}  // namespace tidemark
