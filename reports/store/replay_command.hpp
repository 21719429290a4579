// The command that runs a result again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reports/store/report.hpp"

namespace tidemark::reports {

/// "tidemark run --cases ... --seed ...": `result` again, or row `row` of it. A report may
/// be a stranger's, so it is made of the columns; of the line that the launch stored only values of
/// known options are taken, where they mean nothing to a shell. Empty where the case has no name
/// that a case can have, and without `row` where the launch stored no line.
std::string replay_command(const Report& report, const ResultRow& result,
                           std::optional<std::uint32_t> row = {});

}  // namespace tidemark::reports
