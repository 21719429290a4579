// Which attempt a result shows.
#pragma once

#include <algorithm>
#include <vector>

#include "reports/schema/verdict_kinds.hpp"

namespace tidemark::reports {

/// Verdicts that a later pass must not hide.
inline bool stays(Verdict verdict) { return is_failure(verdict) || is_lost(verdict); }

/// The last that lost the GPU, else the last bad one, else the last; of pointers in the order of
/// attempts.
template <class Pointer, class VerdictOf>
auto& shown_attempt(const std::vector<Pointer>& attempts, VerdictOf verdict_of) {
  const auto lost = std::find_if(attempts.rbegin(), attempts.rend(),
                                 [&](const auto* each) { return is_lost(verdict_of(each)); });
  if (lost != attempts.rend()) return **lost;
  const auto bad = std::find_if(attempts.rbegin(), attempts.rend(),
                                [&](const auto* each) { return stays(verdict_of(each)); });
  return bad == attempts.rend() ? *attempts.back() : **bad;
}

}  // namespace tidemark::reports
