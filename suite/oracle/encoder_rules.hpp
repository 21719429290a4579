// Which tensor maps there can be, as the oracle knows it: apart from the rules of the devices.
#pragma once

#include <string_view>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// Throws Error where cuda.h forbids the map: which value, of which dimension, what cuda.h takes,
/// and of which parameter it says so; or where copies by it end the process. A bulk map is not
/// encoded, and is let through. `place` stands in front of the sentence.
void refuse_illegal_map(const TensorMapSpec& map, std::string_view place = "");

}  // namespace tidemark
