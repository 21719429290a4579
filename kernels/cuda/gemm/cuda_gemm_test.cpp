// A Gemm that makes no sense is refused, in words, before any GPU is touched.
#include "kernels/cuda/gemm/cuda_gemm.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/error.hpp"
#include "kernels/testing/scripted_transport.hpp"

namespace tidemark {
namespace {

std::string error_of(const Gemm& gemm) {
  try {
    run_gemm(gemm);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Gemm eight_cubed() { return whole_product({8, 8, 8}, GemmInputs::normal); }

TEST(GemmRefusal, RowsOfAThatOverlap) {
  Gemm gemm = eight_cubed();
  gemm.k = 24;
  gemm.lda = 16;
  EXPECT_EQ(error_of(gemm), "gemm: lda is shorter than a row of A");
}

TEST(GemmRefusal, RungAskedForWhatItCannotDo) {
  Gemm gemm = eight_cubed();
  gemm.rung = GemmRung::ring;
  gemm.beta = 1;
  EXPECT_EQ(error_of(gemm), "gemm: a rung of the ladder does C = A B^T with bf16 only");
}

TEST(GemmRefusal, RungWhoseRowsAreToLieApart) {
  Gemm gemm = eight_cubed();
  gemm.rung = GemmRung::tma_store;
  gemm.ldb = 9;
  EXPECT_EQ(error_of(gemm),
            "gemm: a rung of the ladder takes packed rows that start on 16 bytes: leave out lda, "
            "ldb and ldc, or the rung");
}

TEST(GemmRefusal, ElementsPlantedOutsideOrOverATransport) {
  Gemm gemm = eight_cubed();
  gemm.planted = {{GemmOperand::a, 8, 0, NonFinite::nan}};
  EXPECT_EQ(error_of(gemm), "gemm: a planted element lies outside A and B");
  ScriptedTransport transport;
  gemm.transport = &transport;
  gemm.planted = {{GemmOperand::a, 7, 0, NonFinite::nan}};
  EXPECT_EQ(
      error_of(gemm),
      "gemm: elements are planted where no transport brings others: leave out one of the two");
}

TEST(GemmRefusal, BlockOutsideC) {
  Gemm gemm = eight_cubed();
  gemm.cols = {4, 5};
  EXPECT_EQ(error_of(gemm), "gemm: columns 4 to 9 lie outside C, which has 8");
}

TEST(GemmRefusal, ShardsThatLeaveAHole) {
  ScriptedTransport transport;
  Gemm gemm = eight_cubed();
  gemm.transport = &transport;
  gemm.a_shards = {{.owner = 0, .first_row = 0, .rows = 4},
                   {.owner = 1, .first_row = 5, .rows = 3}};
  gemm.b_shards = {{.owner = 0, .first_row = 0, .rows = 8}};
  EXPECT_NE(error_of(gemm).find("gemm: panel A: the shard of rank 1 starts at row 5"),
            std::string::npos)
      << error_of(gemm);
}

TEST(GemmRefusal, ShardsThatEndEarly) {
  ScriptedTransport transport;
  Gemm gemm = eight_cubed();
  gemm.transport = &transport;
  gemm.a_shards = {{.owner = 0, .first_row = 0, .rows = 8}};
  gemm.b_shards = {{.owner = 0, .first_row = 0, .rows = 7}};
  EXPECT_EQ(error_of(gemm), "gemm: panel B: the shards cover 7 of 8 rows");
}

}  // namespace
}  // namespace tidemark
