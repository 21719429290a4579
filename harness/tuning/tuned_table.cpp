// The table after a tuning run, and the lines that a person reads of it.
#include "harness/tuning/tuned_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::harness {
namespace {

using Kind = TuningVerdict::Kind;

bool is_decided(const TuningVerdict& verdict) {
  return verdict.kind == Kind::replaced || verdict.kind == Kind::kept;
}

double tflops(const GemmShape& product, double ns) {
  return 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
         static_cast<double>(product.k) / ns * 1e-3;
}

/// Nothing where no duel of the kind counted.
std::string rate_of(const GemmShape& product, double ns) {
  return ns > 0 ? fmt::format("{:.1f}", tflops(product, ns)) : "-";
}

std::string note_of(const DecidedProduct& decided) {
  const TuningVerdict& verdict = decided.verdict;
  std::string note =
      fmt::format("TFLOP/s sustained {}, cool {}; ", rate_of(decided.product, verdict.at_work_ns),
                  rate_of(decided.product, verdict.rested_ns));
  if (verdict.kind == Kind::kept) return note + "kept: none is faster by more than noise";
  return note + fmt::format("{:.1f} % faster than {}, noise {:.1f} %", 100 * verdict.gain,
                            decided.present, 100 * verdict.noise);
}

std::uint32_t number_of(const std::string& configuration) {
  const std::vector<std::string> names = gemm_configuration_names();
  const auto found = std::find(names.begin(), names.end(), configuration);
  return found == names.end() ? 0 : static_cast<std::uint32_t>(found - names.begin()) + 1;
}

/// That it was not measured here.
std::string taken_over(const GemmTable& from, const std::string& note) {
  constexpr std::string_view kTakenOver = "taken over from ";
  if (note.starts_with(kTakenOver)) return note;
  return fmt::format("{}{} {}", kTakenOver, from.name, hash_of(from));
}

}  // namespace

GemmTable tuned_table(const GemmTable& present, const std::vector<DecidedProduct>& decided,
                      GemmTableOrigin measured) {
  GemmTable made{.name = {}, .measured = std::move(measured), .choices = present.choices};
  for (GemmChoice& choice : made.choices) choice.note = taken_over(present, choice.note);
  for (const DecidedProduct& one : decided) {
    if (!is_decided(one.verdict)) continue;
    GemmChoice choice{.product = one.product,
                      .configuration = one.verdict.configuration,
                      .number = number_of(one.verdict.configuration),
                      .note = note_of(one)};
    const auto same = std::find_if(made.choices.begin(), made.choices.end(),
                                   [&](const GemmChoice& c) { return c.product == one.product; });
    if (same != made.choices.end())
      *same = std::move(choice);
    else
      made.choices.push_back(std::move(choice));
  }
  return made;
}

std::string decision_heading() {
  return fmt::format("{:<22}{:<41}{:>8}{:>8}{:>8}  {}\n{:<63}{:>16}\n", "product", "configuration",
                     "sustained", "cool", "gain", "noise", "", "TFLOP/s");
}

std::string decision_text(const DecidedProduct& decided) {
  const TuningVerdict& verdict = decided.verdict;
  std::string line = fmt::format(
      "{:<22}{:<41}{:>8}{:>8}", name_of(decided.product), verdict.configuration,
      rate_of(decided.product, verdict.at_work_ns), rate_of(decided.product, verdict.rested_ns));
  switch (verdict.kind) {
    case Kind::replaced:
      return line + fmt::format("{:>+6.1f} %  {:.1f} %: {:.1f} times that\n{:<22}was {}\n",
                                100 * verdict.gain, 100 * verdict.noise,
                                verdict.gain / verdict.noise, "", decided.present);
    case Kind::kept:
      return line + fmt::format("{:>8}  {:.1f} %\n", "kept", 100 * verdict.noise);
    case Kind::undecided:
      return line + fmt::format("{:>8}  cannot tell\n{:<22}{}\n", "kept", "", verdict.reason);
    case Kind::broken:
      return line + fmt::format("{:>8}\n{:<22}{}\n", "BROKEN", "", verdict.reason);
  }
  return line;
}

}  // namespace tidemark::harness
