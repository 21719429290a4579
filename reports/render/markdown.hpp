// A Markdown page of limited size, for a comment of a code review: whole blocks or none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::reports {

/// What GitHub takes as a comment is 65,536 bytes; a little is left for what is put around it.
inline constexpr std::size_t kMostMarkdownBytes = 60'000;

struct MarkdownPage {
  std::string text;
  std::size_t most = kMostMarkdownBytes - 200;  // the rest is for the last line
  std::size_t left_out = 0;                     // blocks that found no room
};

/// Appends the block, or counts it as left out where it finds no room. Later, smaller blocks may
/// still find some.
void put_block(MarkdownPage& page, std::string_view block);

/// The page, with a line that says how much was left out and which command shows it.
std::string finished(const MarkdownPage& page, std::string_view command);

}  // namespace tidemark::reports
