// GPUs that lie apart from the others of a report, in the words of each rendering.
#include "reports/compare/outliers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/error.hpp"
#include "reports/render/parts.hpp"

namespace tidemark::reports {

Outliers outliers_of(const Report& report) {
  try {
    return outliers_of(facts_of(report, "report"));
  } catch (const ReportError&) {  // a GPU or case twice: nobody can say which is which
    return {};
  }
}

std::string summary_of(const Report& report, const Outliers& outliers) {
  if (outliers.metrics == 0) return {};
  const std::string where =
      fmt::format("{} over {}{}", plural(outliers.metrics, "metric"), plural(outliers.gpus, "GPU"),
                  report.launch.is_virtual ? " of the VIRTUAL device" : "");
  return outliers.groups.empty() ? fmt::format("no GPU lies apart from the others in {}", where)
                                 : fmt::format("GPUs that lie apart, in {}:", where);
}

void put_outliers(Page& page, const Report& report, const ShowOptions& options) {
  constexpr std::size_t kShown = 30;
  const Outliers outliers = outliers_of(report);
  const std::string summary = summary_of(report, outliers);
  if (summary.empty()) return;
  put(page, "");
  put(page, summary);
  const std::size_t shown =
      options.all ? outliers.groups.size() : std::min(kShown, outliers.groups.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OutlierGroup& group = outliers.groups[i];
    constexpr std::size_t kWord = 6;  // SLOWER, FASTER
    put(page, group.slower ? Colour::yellow : Colour::green, kWord, text_of(group), 5);
  }
  put_left_out(page, outliers.groups.size() - shown, "group of GPUs");
}

}  // namespace tidemark::reports
