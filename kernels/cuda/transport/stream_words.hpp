// Words of device memory that streams write and wait for, without an SM.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tidemark::kernels {

/// Looks the functions of the driver up. Throws Error where it has none.
void require_stream_words();

/// Written when all before it on the stream is done and visible to the whole system: who sees the
/// word may read the bytes.
void write_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value);

/// Until the word is `value` or beyond it, as counters go round.
void wait_for_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value);

}  // namespace tidemark::kernels
