// Edit distance over names.
#include "harness/nearest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tidemark::harness {

std::size_t edit_distance(std::string_view pattern, std::string_view name) {
  // Rows of the table: [j] is the distance between the pattern so far and j characters of the name.
  std::vector<std::size_t> before(name.size() + 1);  // two characters of the pattern ago
  std::vector<std::size_t> last(name.size() + 1);    // one ago
  std::vector<std::size_t> row(name.size() + 1);
  for (std::size_t j = 0; j <= name.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    const char wanted = pattern[i];
    const bool any_text = wanted == '*';
    row[0] = last[0] + (any_text ? 0 : 1);
    for (std::size_t j = 1; j <= name.size(); ++j) {
      // A star may end here for nothing, or swallow one more character for nothing.
      if (any_text) {
        row[j] = std::min(last[j], row[j - 1]);
        continue;
      }
      const bool same = wanted == '?' || wanted == name[j - 1];
      row[j] = std::min({last[j - 1] + (same ? 0U : 1U), last[j] + 1, row[j - 1] + 1});
      if (i > 0 && j > 1 && wanted == name[j - 2] && pattern[i - 1] == name[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[name.size()];
}

std::string did_you_mean(std::string_view pattern, std::span<const std::string_view> names,
                         std::size_t count) {
  std::size_t least = pattern.size() / 2;
  std::vector<std::string_view> nearest;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(pattern, name);
    if (distance > least) continue;
    if (distance < least) nearest.clear();
    least = distance;
    nearest.push_back(name);
  }
  std::string text;
  for (std::size_t i = 0; i < nearest.size() && i < count; ++i) {
    text += i == 0 ? "did you mean '" : ", '";
    text += nearest[i];
    text += '\'';
  }
  return text.empty() ? text : text + '?';
}

}  // namespace tidemark::harness
