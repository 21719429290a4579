// Turns wrong elements of C into one line for a person: which, how many, in which corner of C.
#include "suite/gemm/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tidemark {

void WrongElements::add(std::uint64_t at_row, std::uint64_t at_col, std::uint32_t expected_bits,
                        std::uint32_t actual_bits) {
  add(WrongElements{.count = 1,
                    .row = at_row,
                    .col = at_col,
                    .expected = expected_bits,
                    .actual = actual_bits,
                    .row_min = at_row,
                    .row_max = at_row,
                    .col_min = at_col,
                    .col_max = at_col});
}

void WrongElements::add(const WrongElements& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  if (std::tie(other.row, other.col) < std::tie(row, col)) {
    row = other.row;
    col = other.col;
    expected = other.expected;
    actual = other.actual;
  }
  count += other.count;
  row_min = std::min(row_min, other.row_min);
  row_max = std::max(row_max, other.row_max);
  col_min = std::min(col_min, other.col_min);
  col_max = std::max(col_max, other.col_max);
}

std::string element_text(GemmOutput output, std::uint32_t bits) {
  return fmt::format("{:.9g} (0x{:0{}x})", element_value(output, bits), bits,
                     2 * element_bytes(output));
}

Miscompare miscompare_of(const Gemm& gemm, const WrongElements& wrong, std::uint32_t row_index,
                         const std::string& text) {
  const std::uint64_t size = element_bytes(gemm.output);
  Miscompare miscompare;
  miscompare.row = row_index;
  miscompare.what = std::string("C");  // g++ 12 warns of an overlap in assigning a short literal
  miscompare.coordinate = {static_cast<std::int64_t>(gemm.rows.first + wrong.row),
                           static_cast<std::int64_t>(gemm.cols.first + wrong.col), 0, 0, 0};
  miscompare.first_offset = (wrong.row * gemm.cols.count + wrong.col) * size;
  miscompare.wrong_bytes = wrong.count * size;
  miscompare.expected = wrong.expected;
  miscompare.actual = wrong.actual;
  miscompare.text = text;
  if (wrong.count > 1)
    miscompare.text +=
        fmt::format(", all within rows {} to {}, columns {} to {}", gemm.rows.first + wrong.row_min,
                    gemm.rows.first + wrong.row_max, gemm.cols.first + wrong.col_min,
                    gemm.cols.first + wrong.col_max);
  return miscompare;
}

Miscompare miscompare_of(const Gemm& gemm, const WrongElements& wrong, std::uint32_t row_index) {
  return miscompare_of(gemm, wrong, row_index,
                       fmt::format("C({}, {}): expected {}, got {}; {} of {} elements wrong",
                                   gemm.rows.first + wrong.row, gemm.cols.first + wrong.col,
                                   element_text(gemm.output, wrong.expected),
                                   element_text(gemm.output, wrong.actual), wrong.count,
                                   gemm.rows.count * gemm.cols.count));
}

}  // namespace tidemark
