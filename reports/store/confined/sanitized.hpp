// Which sanitizer watches this build. AddressSanitizer needs calls that a confined process
// otherwise may not make; it and ThreadSanitizer end a process that gets no memory before `operator
// new` can say so.
#pragma once

namespace tidemark {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitized = true;
#else
inline constexpr bool kAddressSanitized = false;
#endif

#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif

}  // namespace tidemark
