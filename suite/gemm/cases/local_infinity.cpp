// One GPU multiplies integers of which one is infinite: its row of C, or its column, is infinite
// with the sign of each product, and NaN where it meets a zero; nothing else is touched.
#include "suite/case.hpp"
#include "suite/gemm/planted_rows.hpp"

namespace tidemark::suite {
namespace {

std::vector<PlantedElement> first_of_a(std::uint64_t, std::uint64_t, std::uint64_t) {
  return {{GemmOperand::a, 0, 0, NonFinite::infinity}};
}
std::vector<PlantedElement> last_of_a(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m - 1, k - 1, NonFinite::minus_infinity}};
}
std::vector<PlantedElement> inside_b(std::uint64_t, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::b, n / 3, k / 2, NonFinite::minus_infinity}};
}
std::vector<PlantedElement> last_of_b(std::uint64_t, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::b, n - 1, k - 1, NonFinite::infinity}};
}
/// A row and a column; where they cross their infinities are multiplied.
std::vector<PlantedElement> row_and_column(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::a, m / 3, k / 3, NonFinite::infinity},
          {GemmOperand::b, n / 4, k / 3, NonFinite::minus_infinity}};
}

std::vector<Op> rows(const RunContext& context) {
  return planted_rows(context, {first_of_a, last_of_a, inside_b, last_of_b, row_and_column});
}

const Register kCase{{
    .name = "gemm.local.infinity",
    .claim = "an infinite element of A makes its row of C infinite, one of B its column, each "
             "element with the sign of its product, or NaN where it meets a zero; all others are "
             "exact",
    .cites =
        "IEEE 754-2019, 6.1: arithmetic with infinities is exact, and 7.2: 0 times an infinity "
        "is NaN",
    .seconds = 2,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
