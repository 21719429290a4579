// Groups of 4, 2, 2, 2 and 6 bytes in hexadecimal.
#include "kernels/cuda/uuid.hpp"

#include <fmt/core.h>

namespace tidemark::kernels {

std::string uuid_text(std::string_view kind, const std::array<std::uint8_t, 16>& bytes) {
  std::string text(kind);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace tidemark::kernels
