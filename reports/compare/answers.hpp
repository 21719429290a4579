// What drivers answered otherwise after a change: encoders of tensor maps, limits, facts of
// kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/pairing.hpp"

namespace tidemark {

/// The unit of answers that are codes: many calls may change alike.
inline constexpr std::string_view kAnswerCode = "CUresult";

/// Questions that changed alike: of calls all that changed from these codes to those, or whose maps
/// differ in the same bytes; of numbers one.
struct AnswerChange {
  std::string unit;
  std::set<std::int64_t> base, fresh;      // over launches; empty: gone, though its case passed
  std::array<std::uint8_t, 128> bits{};    // that differ in any of the maps; 0: codes differ
  std::vector<std::string> in_common;      // parts of their subjects and questions
  std::size_t questions = 0, similar = 0;  // changed; compared, with these parts
  std::string subject, question;           // of the first
  std::vector<std::uint32_t> gpus = {};    // of numbers, indices into the pairing

  bool of_maps() const;
};

/// A file may hold any answers; drivers change little.
inline constexpr std::size_t kMostAnswerChanges = 100;

struct AnswerComparison {
  std::size_t compared = 0;           // questions that both sides asked, or should have
  std::vector<AnswerChange> changes;  // the first, in the order of their cases
  std::size_t unlisted = 0;           // questions that changed unlike these
};

AnswerComparison compare_answers(const Pairing& pairing);

}  // namespace tidemark
