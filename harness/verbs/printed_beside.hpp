// What reports cannot know of a metric, because it follows from the suite's own cases.
#pragma once

#include <string_view>

#include "harness/room.hpp"
#include "reports/render/show.hpp"

namespace tidemark::harness {

/// For ShowOptions::beside: what the case of this program says of its metric; nothing of a case it
/// has not.
PrintedBeside printed_beside(std::string_view case_name, std::string_view metric);

}  // namespace tidemark::harness
