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
using Parts = std::vector<std::string_view>;

struct Side {
  std::set<std::int64_t> answers;
  std::set<Map> maps;  // of what was accepted
};

/// Asked of a paired GPU; of an encoder, which is the same for all, of kNoRow.
struct Question {
  std::string_view case_name;
  std::uint32_t gpu = kNoRow;
  std::string_view subject, question, unit;

  auto key() const { return std::tie(case_name, unit, subject, question, gpu); }
  bool operator<(const Question& other) const { return key() < other.key(); }
};

using Sides = std::array<Side, 2>;  // before, after
using NamedCaseAndGpu = std::pair<std::string_view, std::uint32_t>;

/// By row of the launch: the index of each paired GPU, else kNoRow.
std::vector<std::uint32_t> paired_gpus(const Pairing& pairing, std::size_t launch) {
  std::vector<std::uint32_t> made(pairing.launches[launch]->gpus.size(), kNoRow);
  for (std::uint32_t gpu = 0; gpu < pairing.gpus.size(); ++gpu)
    if (const std::uint32_t row = pairing.gpu_rows[launch][gpu];
        row != kNoRow && pairing.is_paired(gpu))
      made[row] = gpu;
  return made;
}

/// Cases that passed there: an answer that they lack is gone.
void add_passed(const LaunchFacts& launch, const std::vector<std::uint32_t>& gpus,
                std::set<NamedCaseAndGpu>& passed) {
  for (std::size_t which = 0; which < launch.cases.size(); ++which)
    for (std::size_t row = 0; row < gpus.size(); ++row)
      if (launch.verdicts[which * gpus.size() + row] == Verdict::pass) {
        passed.emplace(launch.cases[which], gpus[row]);
        passed.emplace(launch.cases[which], kNoRow);
      }
}

std::map<Question, Sides> questions_of(const Pairing& pairing) {
  std::array<std::set<NamedCaseAndGpu>, 2> passed;
  std::map<Question, Sides> made;
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    const LaunchFacts& launch = *pairing.launches[i];
    const std::size_t which = i < pairing.base ? 0 : 1;
    const std::vector<std::uint32_t> gpus = paired_gpus(pairing, i);
    add_passed(launch, gpus, passed[which]);
    for (const AnswerOfLaunch& row : launch.answers) {
      const std::string_view unit = launch.answer_texts[row.unit];
      const bool is_code = unit == kAnswerCode;
      if (!is_code && gpus[row.gpu] == kNoRow) continue;
      Side& side = made[{.case_name = launch.cases[row.of_case],
                         .gpu = is_code ? kNoRow : gpus[row.gpu],
                         .subject = launch.answer_texts[row.subject],
                         .question = launch.answer_texts[row.question],
                         .unit = unit}][which];
      side.answers.insert(row.answer);
      if (is_code && row.answer == 0) side.maps.insert(row.map);
    }
  }
  // What a case that did not pass lacks may not have been asked.
  std::erase_if(made, [&](const auto& one) {
    const auto& [question, sides] = one;
    const NamedCaseAndGpu place{question.case_name, question.gpu};
    return (sides[0].answers.empty() && !passed[0].contains(place)) ||
           (sides[1].answers.empty() && !passed[1].contains(place));
  });
  return made;
}

/// What only some launches of the base had may be missing behind it.
template <class Value>
bool has_more(const std::set<Value>& fresh, const std::set<Value>& base) {
  return fresh.empty() || !std::ranges::includes(base, fresh);
}

/// In which a map of the base differs from one that it had in no launch; none without such a one.
Bits different_bits(const Side& base, const Side& fresh) {
  Bits bits{};
  const auto other =
      std::ranges::find_if(fresh.maps, [&](const Map& map) { return !base.maps.contains(map); });
  if (base.maps.empty() || other == fresh.maps.end()) return bits;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const auto differ = static_cast<std::uint64_t>((*base.maps.begin())[i / 8] ^ (*other)[i / 8]);
    bits[i] = static_cast<std::uint8_t>(differ >> 8 * (i % 8));
  }
  return bits;
}

/// "tiled, f32, rank 3" and "a stride of 0": four parts. A file may hold any text.
Parts parts_of(const Question& question) {
  constexpr std::string_view kBetween = ", ";
  constexpr std::size_t kMost = 8;
  Parts made;
  std::string_view rest = question.subject;
  while (!rest.empty()) {
    const std::size_t end =
        made.size() == kMost ? rest.size() : std::min(rest.find(kBetween), rest.size());
    made.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
  }
  made.push_back(question.question);
  return made;
}

bool has_part(const Parts& parts, const std::string& part) {
  return std::ranges::find(parts, part) != parts.end();
}

/// Questions with the same words change as one: of codes by both codes, of maps by their bytes, of
/// numbers by question and both numbers.
std::string change_of(const Question& question, const Side& base, const Side& fresh,
                      const Bits& bits) {
  const bool is_code = question.unit == kAnswerCode;
  std::string bytes;
  for (const std::uint8_t byte : bits) bytes += byte == 0 ? '0' : '1';
  return fmt::format("{} -> {}, {}{}, {}", fmt::join(base.answers, " "),
                     fmt::join(fresh.answers, " "), bytes, is_code ? "" : question.subject,
                     is_code ? "" : question.question);
}

}  // namespace

bool AnswerChange::of_maps() const {
  return std::ranges::any_of(bits, [](std::uint8_t byte) { return byte != 0; });
}

AnswerComparison compare_answers(const Pairing& pairing) {
  const std::map<Question, Sides> asked = questions_of(pairing);
  AnswerComparison made;
  made.compared = asked.size();
  std::map<std::string, std::size_t> places;  // in `changes`
  std::vector<std::pair<std::string_view, Parts>> all;
  all.reserve(asked.size());
  for (const auto& [question, sides] : asked) {
    const auto& [base, fresh] = sides;
    const Parts& parts = all.emplace_back(question.unit, parts_of(question)).second;
    const bool answered = has_more(fresh.answers, base.answers);
    const Bits bits = answered ? Bits{} : different_bits(base, fresh);
    if (!answered && bits == Bits{}) continue;
    const std::string what = change_of(question, base, fresh, bits);
    if (made.changes.size() == kMostAnswerChanges && !places.contains(what)) {
      ++made.unlisted;
      continue;
    }
    const auto [place, added] = places.emplace(what, made.changes.size());
    if (added)
      made.changes.push_back({.unit = std::string(question.unit),
                              .base = base.answers,
                              .fresh = fresh.answers,
                              .in_common = {parts.begin(), parts.end()},
                              .subject = std::string(question.subject),
                              .question = std::string(question.question)});
    AnswerChange& change = made.changes[place->second];
    ++change.questions;
    if (question.gpu != kNoRow) change.gpus.push_back(question.gpu);
    std::erase_if(change.in_common,
                  [&](const std::string& part) { return !has_part(parts, part); });
    for (std::size_t i = 0; i < bits.size(); ++i) change.bits[i] |= bits[i];
  }
  for (AnswerChange& change : made.changes)
    change.similar = static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& other) {
      return other.first == change.unit &&
             std::ranges::all_of(change.in_common, [&](const std::string& part) {
               return has_part(other.second, part);
             });
    }));
  return made;
}

}  // namespace tidemark
