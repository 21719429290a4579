// One GPU multiplies integers of which one is NaN, or two of one row are infinite with both signs:
// NaN reaches the whole row or column, and nothing else.
#include "suite/case.hpp"
#include "suite/gemm/planted_rows.hpp"

namespace tidemark::suite {
namespace {

std::vector<PlantedElement> first_of_b(std::uint64_t, std::uint64_t, std::uint64_t) {
  return {{GemmOperand::b, 0, 0, NonFinite::nan}};
}
std::vector<PlantedElement> last_of_a(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m - 1, k - 1, NonFinite::nan}};
}
std::vector<PlantedElement> inside_a(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m / 3, k / 2, NonFinite::nan}};
}
/// Infinite where the products differ in sign, NaN where they do not.
std::vector<PlantedElement> both_infinities(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m / 4, 0, NonFinite::infinity},
          {GemmOperand::a, m / 4, k - 1, NonFinite::minus_infinity}};
}
/// NaN wins over an infinity.
std::vector<PlantedElement> nan_and_infinity(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::a, m / 3, k / 3, NonFinite::infinity},
          {GemmOperand::b, n / 4, k - 1, NonFinite::nan}};
}

std::vector<Op> rows(const RunContext& context) {
  return planted_rows(context,
                      {first_of_b, last_of_a, inside_a, both_infinities, nan_and_infinity});
}

const Register kCase{{
    .name = "gemm.local.nan",
    .claim = "a NaN in A makes its row of C NaN, one in B its column, and infinities of both signs "
             "sum to NaN; all others are exact",
    .cites = "IEEE 754-2019, 6.2: operations on a quiet NaN deliver one, and 7.2: the sum of "
             "infinities of opposite signs is NaN",
    .seconds = 2,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
