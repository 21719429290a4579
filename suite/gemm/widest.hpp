// Runs a loop with the widest vector instructions of the CPU that it finds itself on: the program
// is built for any x86-64, whose own vectors are a quarter as wide as those of a GPU's host.
#pragma once

namespace tidemark::suite {

#if defined(__x86_64__)
template <auto loop, class... Args>
[[gnu::target("avx2,fma")]] void with_avx2(Args... args) {
  loop(args...);
}
template <auto loop, class... Args>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void with_avx512(Args... args) {
  loop(args...);
}
#endif

/// Calls loop(args...), compiled once for each kind of vectors. `loop` is a function with
/// [[gnu::always_inline]], whose pointer or span arguments say where its results go. Integers come
/// out the same everywhere; sums of fp64 may be fused, and differ in their last places.
template <auto loop, class... Args>
void run_widest(Args... args) {
#if defined(__x86_64__)
  static const bool avx512 = __builtin_cpu_supports("avx512bw") != 0 &&
                             __builtin_cpu_supports("avx512dq") != 0 &&
                             __builtin_cpu_supports("avx512vl") != 0;
  static const bool avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (avx512) return with_avx512<loop, Args...>(args...);
  if (avx2) return with_avx2<loop, Args...>(args...);
#endif
  loop(args...);
}

}  // namespace tidemark::suite
