// What drivers answered otherwise after a change.
#include "reports/compare/answers.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tidemark {
namespace {

using Map = std::array<std::int64_t, 16>;
using Bits = std::array<std::uint8_t, 128>;

struct Side {
  std::set<std::int64_t> answers;
  std::set<Map> maps;
};

struct Question {
  std::string_view case_name, subject, question, unit;

  auto key() const { return std::tie(case_name, subject, question); }
  bool operator<(const Question& other) const { return key() < other.key(); }
};

using Asked = std::map<Question, std::array<Side, 2>>;  // before, after

Asked asked_in(const Pairing& pairing) {
  std::array<std::set<std::string_view>, 2> cases;
  Asked made;
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    const LaunchFacts& launch = *pairing.launches[i];
    const std::size_t which = i < pairing.base ? 0 : 1;
    for (const AnswerRow& row : launch.answers) {
      const Question question{.case_name = launch.cases[row.result_id],
                              .subject = launch.answer_texts[row.subject],
                              .question = launch.answer_texts[row.question],
                              .unit = launch.answer_texts[row.unit]};
      Side& side = made[question][which];
      side.answers.insert(row.answer);
      side.maps.insert(row.map);
      cases[which].insert(question.case_name);
    }
  }
  // A case that one side did not run says nothing of the driver.
  std::erase_if(made, [&](const auto& one) {
    return !cases[0].contains(one.first.case_name) || !cases[1].contains(one.first.case_name);
  });
  return made;
}

/// What only some launches of the base showed may be missing behind it.
template <class Value>
bool has_more(const std::set<Value>& fresh, const std::set<Value>& base) {
  return fresh.empty() || !std::ranges::includes(base, fresh);
}

/// In which a map of the base differs from one that it had in no launch; none without such a one.
Bits different_bits(const Side& base, const Side& fresh) {
  Bits bits{};
  if (has_more(fresh.answers, base.answers)) return bits;
  const auto other =
      std::ranges::find_if(fresh.maps, [&](const Map& map) { return !base.maps.contains(map); });
  if (other == fresh.maps.end()) return bits;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const auto differ = static_cast<std::uint64_t>((*base.maps.begin())[i / 8] ^ (*other)[i / 8]);
    bits[i] = static_cast<std::uint8_t>(differ >> 8 * (i % 8));
  }
  return bits;
}

/// "tiled, f32, rank 3" and "a stride of 0": four parts.
std::vector<std::string_view> parts_of(const Question& question) {
  constexpr std::string_view kBetween = ", ";
  std::vector<std::string_view> made;
  std::string_view rest = question.subject;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(kBetween), rest.size());
    made.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
  }
  made.push_back(question.question);
  return made;
}

bool has_part(const std::vector<std::string_view>& parts, const std::string& part) {
  return std::ranges::find(parts, part) != parts.end();
}

/// Questions with the same words change as one: of codes by both codes, of maps by their bytes.
std::string change_of(const Question& question, const Side& base, const Side& fresh,
                      const Bits& bits) {
  if (question.unit != kAnswerCode)
    return fmt::format("{}, {}", question.subject, question.question);
  std::string bytes;
  for (const std::uint8_t byte : bits) bytes += byte == 0 ? '0' : '1';
  return fmt::format("{} -> {}, {}", fmt::join(base.answers, " "), fmt::join(fresh.answers, " "),
                     bytes);
}

}  // namespace

bool AnswerChange::of_maps() const {
  return std::ranges::any_of(bits, [](std::uint8_t byte) { return byte != 0; });
}

AnswerComparison compare_answers(const Pairing& pairing) {
  const Asked asked = asked_in(pairing);
  AnswerComparison made;
  made.compared = asked.size();
  std::map<std::string, std::size_t> places;  // in `changes`
  for (const auto& [question, sides] : asked) {
    const auto& [base, fresh] = sides;
    const Bits bits = different_bits(base, fresh);
    if (!has_more(fresh.answers, base.answers) && bits == Bits{}) continue;
    const std::string what = change_of(question, base, fresh, bits);
    if (made.changes.size() == kMostAnswerChanges && !places.contains(what)) {
      ++made.unlisted;
      continue;
    }
    const auto [place, added] = places.emplace(what, made.changes.size());
    const std::vector<std::string_view> parts = parts_of(question);
    if (added)
      made.changes.push_back({.unit = std::string(question.unit),
                              .base = base.answers,
                              .fresh = fresh.answers,
                              .in_common = {parts.begin(), parts.end()},
                              .subject = std::string(question.subject),
                              .question = std::string(question.question)});
    AnswerChange& change = made.changes[place->second];
    ++change.questions;
    std::erase_if(change.in_common,
                  [&](const std::string& part) { return !has_part(parts, part); });
    for (std::size_t i = 0; i < bits.size(); ++i) change.bits[i] |= bits[i];
  }
  for (AnswerChange& change : made.changes)
    for (const auto& [question, sides] : asked) {
      const std::vector<std::string_view> parts = parts_of(question);
      if (question.unit == change.unit &&
          std::ranges::all_of(change.in_common,
                              [&](const std::string& one) { return has_part(parts, one); }))
        ++change.similar;
    }
  return made;
}

}  // namespace tidemark
