// Names and steps of the faults of the virtual matrix multiplication.
#include "kernels/virtual/gemm_faults.hpp"

namespace tidemark {
namespace {

constexpr FaultInfo kGemmFaults[] = {
    {kFaultGemmLastProduct, OpKind::gemm, "gemm_last_product", "sum: the last k is left out"},
    {kFaultGemmTailBlock, OpKind::gemm, "gemm_tail_block",
     "sum: an incomplete last block of 64 k is left out"},
    {kFaultGemmPadding, OpKind::gemm, "gemm_padding",
     "read: the padding behind the rows of both panels holds ones"},
    {kFaultGemmTileUnwritten, OpKind::gemm, "gemm_tile_unwritten",
     "store: the last tile is not stored"},
    {kFaultGemmUlp, OpKind::gemm, "gemm_ulp",
     "store: the element in the middle of the block is one unit in the last place off"},
    {kFaultGemmOffByOne, OpKind::gemm, "gemm_off_by_one",
     "store: the element in the middle of the block is one too large before it is rounded"},
    {kFaultGemmRowsExchanged, OpKind::gemm, "gemm_rows_exchanged",
     "read: the last two rows of the A panel are exchanged"},
    {kFaultGemmNeighbourRow, OpKind::gemm, "gemm_neighbour_row",
     "read: the last row of the B panel is taken from its neighbour"},
    {kFaultGemmShardStale, OpKind::gemm, "gemm_shard_stale",
     "gather: the last row of the last shard of B has not arrived when it is read"},
    {kFaultGemmShardDisplaced, OpKind::gemm, "gemm_shard_displaced",
     "gather: the last shard of A lies one row further back"},
    {kFaultGemmNarrowSum, OpKind::gemm, "gemm_narrow_sum",
     "sum: the sum is rounded to bf16 after each block of 64 k"},
    {kFaultGemmTruncated, OpKind::gemm, "gemm_truncated",
     "store: 16-bit output is cut off, not rounded to nearest even"},
    {kFaultGemmBackGuard, OpKind::gemm, "gemm_back_guard",
     "store: one element behind the block is written"},
    {kFaultGemmFrontGuard, OpKind::gemm, "gemm_front_guard",
     "store: the byte before the block is written"},
    {kFaultGemmTransposed, OpKind::gemm, "gemm_transposed",
     "store: the first 8 x 8 elements of the last whole tile are transposed"},
    {kFaultGemmNotCleared, OpKind::gemm, "gemm_not_cleared",
     "sum: the second tile starts from the sums of the first"},
    {kFaultGemmOddColumn, OpKind::gemm, "gemm_odd_column",
     "store: columns are stored in pairs, an odd last one is not stored"},
    {kFaultGemmStaleStage, OpKind::gemm, "gemm_stale_stage",
     "read: the fifth block of 64 k is multiplied before it replaced the first"},
    {kFaultGemmBitFlip, OpKind::gemm, "gemm_bit_flip",
     "read: the lowest bit of the element in the middle of the A panel is flipped"},
    {kFaultGemmTileTwice, OpKind::gemm, "gemm_tile_twice",
     "store: the last tile holds the sums of the tile before it"},
    {kFaultGemmPaddingWritten, OpKind::gemm, "gemm_padding_written",
     "store: one element behind the last column of the last row is written, where rows are padded"},
    {kFaultGemmUnusedRead, OpKind::gemm, "gemm_unused_read",
     "store: C is read, and taken beta times, also where beta is 0"},
    {kFaultGemmBetaIgnored, OpKind::gemm, "gemm_beta_ignored",
     "store: beta is taken for 0, C is overwritten"},
    {kFaultGemmAlphaIgnored, OpKind::gemm, "gemm_alpha_ignored", "store: alpha is taken for 1"},
    {kFaultGemmAlphaTwice, OpKind::gemm, "gemm_alpha_twice", "store: alpha multiplies beta C, too"},
    {kFaultGemmMajorIgnored, OpKind::gemm, "gemm_major_ignored",
     "read: squares of 64 of an MN-major operand are read along k"},
    {kFaultGemmPackedRows, OpKind::gemm, "gemm_packed_rows",
     "read: rows of A and B are taken to follow each other, whatever lda and ldb say"},
    {kFaultGemmPackedC, OpKind::gemm, "gemm_packed_c",
     "store: rows of C are written one behind the other, whatever ldc says"},
    {kFaultGemmTypeIgnored, OpKind::gemm, "gemm_type_ignored",
     "read: elements of fp16 are taken for bf16"},
    {kFaultGemmNothingDone, OpKind::gemm, "gemm_nothing_done",
     "store: C is left alone where k or alpha is 0"},
};

}  // namespace

std::span<const FaultInfo> gemm_faults() { return kGemmFaults; }

}  // namespace tidemark
