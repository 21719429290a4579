// Packs what a report holds into frames.
#include "reports/store/confined/frames.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>

namespace tidemark::reports {
namespace {

void write_all(int pipe, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(pipe, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    // Whoever wanted the report is gone, and an exception would say so to nobody.
    if (written <= 0) ::_exit(1);
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

template <class Number>
std::string bytes_of_number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Takes bytes off the front, as long as there are enough.
struct Cursor {
  std::string_view left;
  bool enough = true;

  std::string_view take(std::size_t bytes) {
    enough = enough && bytes <= left.size();
    if (!enough) return {};
    const std::string_view taken = left.substr(0, bytes);
    left.remove_prefix(bytes);
    return taken;
  }
  template <class Number>
  Number number() {
    Number value{};
    const std::string_view taken = take(sizeof value);
    if (enough) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
};

}  // namespace

void send_frame(int pipe, FrameKind kind, std::uint32_t number, std::string_view bytes) {
  const FrameHead head{.kind = kind, .number = number, .bytes = bytes.size()};
  write_all(pipe, &head, sizeof head);
  write_all(pipe, bytes.data(), bytes.size());
}

RowSink frame_sink(int pipe) {
  return {
      .launch =
          [pipe](const LaunchRow& launch) {
            send_frame(pipe, FrameKind::launch, 0, packed(launch));
          },
      .begin =
          [pipe](std::size_t part, std::uint64_t elements) {
            send_frame(pipe, FrameKind::part, static_cast<std::uint32_t>(part),
                       bytes_of_number(elements));
          },
      .append = [pipe](std::string_view bytes) { send_frame(pipe, FrameKind::rows, 0, bytes); }};
}

std::string packed(const LaunchRow& launch) {
  std::string bytes;
  for (const LaunchAttribute& attribute : launch_attributes()) {
    std::visit(
        [&](auto member) {
          using Value = std::remove_cvref_t<decltype(launch.*member)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            bytes += bytes_of_number(static_cast<std::uint32_t>((launch.*member).size()));
            bytes += launch.*member;
          } else if constexpr (std::is_same_v<Value, bool>) {
            bytes += launch.*member ? '\1' : '\0';
          } else {
            bytes += bytes_of_number(launch.*member);
          }
        },
        attribute.member);
  }
  return bytes;
}

std::optional<LaunchRow> unpacked_launch(std::string_view bytes) {
  LaunchRow launch;
  Cursor cursor{.left = bytes};
  for (const LaunchAttribute& attribute : launch_attributes()) {
    std::visit(
        [&](auto member) {
          using Value = std::remove_cvref_t<decltype(launch.*member)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            launch.*member = cursor.take(cursor.number<std::uint32_t>());
          } else if constexpr (std::is_same_v<Value, bool>) {
            launch.*member = cursor.number<std::uint8_t>() == 1;
          } else {
            launch.*member = cursor.number<Value>();
          }
        },
        attribute.member);
  }
  if (!cursor.enough || !cursor.left.empty()) return std::nullopt;
  return launch;
}

}  // namespace tidemark::reports
