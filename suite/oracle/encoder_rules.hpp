// Which tensor maps there can be, as the oracle knows it: apart from the rules of the devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// Throws Error where cuda.h forbids the map: which value, of which dimension, what cuda.h takes,
/// and of which parameter it says so; or where copies by it end the process. A bulk map is not
/// encoded, and is let through. `place` stands in front of the sentence.
void refuse_illegal_map(const TensorMapSpec& map, std::string_view place = "");

/// What cuda.h says of a call: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, or neither.
enum class DocumentedAnswer : std::uint8_t { accepted, refused, open };
DocumentedAnswer documented_answer(const Encode& op);

/// Where the answer is not the documented one; or, where that is open or right, a replaced address
/// gave another map than one that was encoded with it.
std::vector<Miscompare> compare(const Encode& op, const RunResult& result, std::uint32_t row);

/// Where a kernel is none that this GPU can start; where attributes are not those of compute
/// capability 9.0 (CUDA programming guide), a cluster of 8 CTAs or less does not fit alone, or an
/// encoder of tensor maps is missing.
std::vector<Miscompare> compare(const DriverFacts& op, const RunResult& result, std::uint32_t row);

/// What a report keeps of the row: of an Encode its call and answer.
std::vector<DriverAnswer> answers_of(const Op& op, const RunResult& result);

/// "accepted", "error 1", "error 1, map written".
std::string answer_words(const RunResult& result);

}  // namespace tidemark
