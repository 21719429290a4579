// Numbers that are gone: a result that passed without them is missing.
#pragma once

#include <vector>

#include "reports/compare/pairing.hpp"

namespace tidemark::reports {

/// Every result of `base` and `fresh` that passed without a finite number above 0 of a metric that
/// its case has on any GPU of any launch, or with one in another unit or direction than in the
/// first launch, or without the samples that another launch has of it, becomes `not_run`, with the
/// reason as evidence; of the `same_suite` also one with a tenth fewer rows than elsewhere, or
/// without their tensor maps. `pairing` is of these launches.
void miss_lost_numbers(const Pairing& pairing, bool same_suite, std::vector<LaunchFacts>& base,
                       std::vector<LaunchFacts>& fresh);

/// "series 5f3a: launch 3 of 5 is not given": for each side and series that it has a part of.
std::vector<std::string> incomplete_series(const Pairing& pairing);

}  // namespace tidemark::reports
