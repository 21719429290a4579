// The fields of the records that become rows of a report: in a journal under these names, in the
// order they are written.
#pragma once

#include "reports/journal/fields.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

template <class R>
concept HasTable = Is<R, NodeRecord> || Is<R, GpuRecord> || Is<R, PlannedCase>;

/// The member of a record that `column` describes.
template <class Member, class R>
auto& member_of(R& r, const Column& column) {
  using As = std::conditional_t<std::is_const_v<R>, const Member, Member>;
  using Place = std::conditional_t<std::is_const_v<R>, const std::byte, std::byte>;
  return *reinterpret_cast<As*>(reinterpret_cast<Place*>(&r) + column.offset);
}

/// Of the columns of its table.
template <class Io, HasTable R>
void fields(Io& io, R& r) {
  static const std::remove_const_t<R> blank{};
  for (const Column& column : table_of<std::remove_const_t<R>>().columns) {
    if (column.in_journal.empty()) continue;
    const auto take = [&]<class Member>(const Member&) {
      auto& value = member_of<Member>(r, column);
      const char* const name = column.in_journal.data();
      column.since == 0 ? io(name, value) : io.later(name, value, member_of<Member>(blank, column));
    };
    const bool is_text = column.refers == kStringBytes || column.type == ColumnType::text;
    is_text ? take(std::string()) : visit_type(column, [&]<class Number>(Number number) {
      if constexpr (std::is_same_v<Number, std::uint8_t>) {
        take(bool{});
      } else if constexpr (!std::is_same_v<Number, char>) {
        take(number);
      }
    });
  }
}

template <class Io>
void fields(Io& io, Is<OutcomeRecord> auto& r) {
  io("gpu", r.gpu), io("case", r.case_name), io("attempt", r.attempt), io("verdict", r.verdict);
  io("reason", r.reason), io("start", r.start_unix_s), io("seconds", r.seconds);
  io("rows_planned", r.rows_planned), io("rows_run", r.rows_run);
  io("rows_failed", r.rows_failed), io("cuda_error", r.cuda_error), io("signal", r.signal);
  io("exit_code", r.exit_code), io("seed", r.seed), io("descriptors", r.descriptors);
  io("replay", r.replay), io("notes", r.notes), io("miscompares", r.miscompares);
  io("metrics", r.metrics);
  io.later("sm_rows_run", r.sm_rows_run), io.later("sm_rows_failed", r.sm_rows_failed);
  io.later("sm_latency", r.sm_latency), io.later("sm_rate", r.sm_rate);
  io.later("answers", r.answers);
}

}  // namespace tidemark
