// A program as one stand-alone CUDA file: the attachment of a bug report.
#pragma once

#include <string>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// One line each: in the heading of the file, and printed behind what the program itself prints.
struct ReproducerWords {
  std::string title, expected, seen;
};

/// CUDA C++17 that runs `program` once on GPU 0. It prints the trace of each observing step that a
/// CTA took, an FNV-1a 64 digest of the window for each snapshot, and of each region, and whether
/// it changed. It compiles with `nvcc -gencode=arch=compute_90a,code=sm_90a FILE.cu -lcuda` and
/// needs only the CUDA toolkit. Memory of a peer is memory of GPU 1. The exit code is 0, and 1
/// after a CUDA error, whose name is printed.
///
/// The instructions are those of kernels/cuda/program/program_kernel.cu. Waits and delays count
/// clocks at 2 GHz, so they last up to twice as long as their `ns`.
///
/// A step takes one line, at most two. A program of 45 steps gives fewer
/// than 200 lines of at most 120 columns; a longer program gives a longer file.
///
/// Throws Error for a program that is not sound.
std::string cuda_reproducer(const Program& program, const ReproducerWords& words);

}  // namespace tidemark
