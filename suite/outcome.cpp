// What comes of a case: its verdict, miscompares, metrics and observations.
#include "suite/outcome.hpp"

#include <algorithm>

#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

int gravity(Judgement judgement) {
  switch (judgement) {
    case Judgement::pass:
      return 0;
    case Judgement::skip:
      return 1;
    case Judgement::fail:
      return 2;
    case Judgement::others_late:
      return 3;
    case Judgement::timeout:
      return 4;
    case Judgement::tool_error:
      return 5;
    case Judgement::sticky:
      return 6;
  }
  return 6;
}

}  // namespace

bool worsen(Outcome& outcome, Judgement judgement, const std::string& reason) {
  if (gravity(judgement) <= gravity(outcome.judgement)) return false;
  outcome.judgement = judgement;
  outcome.reason = reason;
  return true;
}

void add_rows(const Outcome& rows, Outcome& all) {
  const bool worse = worsen(all, rows.judgement, rows.reason);
  // Beside what failed, the error of a row that had to end in one would be misread.
  if (worse || (all.judgement == Judgement::pass && rows.cuda_error != 0))
    all.cuda_error = rows.cuda_error;
  all.device_spent = rows.device_spent;
  all.suspects = rows.suspects;
  all.rows_left = rows.rows_left;
  all.rows_run += rows.rows_run;
  all.rows_failed += rows.rows_failed;
  for (const Miscompare& wrong : rows.miscompares)
    if (all.miscompares.size() < kKeptMiscompares) all.miscompares.push_back(wrong);
  for (const std::string& note : rows.notes)
    if (all.notes.size() < kKeptNotes &&
        std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end())
      all.notes.push_back(note);
  all.answers.insert(all.answers.end(), rows.answers.begin(), rows.answers.end());
  all.descriptors = splitmix64(all.descriptors) ^ rows.descriptors;
}

}  // namespace tidemark
