// What tests of transports do on a GPU: they fill rows with the words of an epoch, and look at rows
// as soon as a word says that they are there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tidemark {

/// Rows of `row_words` words from `rows` on, of which `count` are meant: `first`, `first` + `step`
/// and so on. What a row holds is a function of its number and `epoch`; no word is the same in two
/// epochs.
struct ChunkRows {
  std::uint32_t* rows = nullptr;
  std::uint32_t row_words = 0;
  std::uint32_t first = 0, step = 1, count = 0;
  std::uint32_t epoch = 0;
};

struct ChunkCounts {
  unsigned long long seen = 0;   // rows whose word came
  unsigned long long stale = 0;  // words of them that are not of the epoch
};

/// Fills the rows, in order of the stream.
void fill_chunks(const ChunkRows& chunks, cudaStream_t stream);

/// Waits for `arrived`[i] to be the epoch, at most five seconds each, then reads row i at once, for
/// every row of `chunks`, and adds to `counts`, in device memory.
void check_chunks(const ChunkRows& chunks, std::uint32_t* arrived, ChunkCounts* counts,
                  cudaStream_t stream);

}  // namespace tidemark
