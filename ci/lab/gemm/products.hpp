// Which products a tuning run times: its own, and what the command line asks for.
#pragma once

#include <span>
#include <string>

#include "ci/lab/gemm/cublaslt.hpp"
#include "kernels/error.hpp"

namespace tidemark {

/// What the caller can mend.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Those that the engine's table is made from, rows on 16 bytes.
std::span<const Shape> usual_products();
/// What the table names beside them.
std::span<const Shape> other_tabled_products();
/// Eight of which the table names none.
std::span<const Shape> sampled_products();
/// Those of e4m3.
std::span<const Shape> fp8_products();
/// Rows that start off 16 bytes: of one, of all, and tight ones of odd sizes.
std::span<const Shape> pitched_products();

/// "8192 x 8192 x 8192", and behind that " ld 8193,0,0" where it is pitched, and what else is not
/// as usual.
std::string name_of(const Shape& shape);

/// "MxNxK" or "MxNxK:LDA,LDB,LDC". Throws UsageError.
Shape shape_of(const std::string& text);

/// Throws UsageError where a size is 0, where a leading dimension is shorter than a row, and where
/// fp8 is not K-major with rows on 16 bytes.
void require_sound(const Shape& shape);

}  // namespace tidemark
