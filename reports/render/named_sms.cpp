// Takes the names of SMs out of a text.
#include "reports/render/named_sms.hpp"

#include <charconv>

namespace tidemark::reports {
namespace {

/// 4 and 17 of "4, 17"; none where it is no such list.
std::vector<std::uint32_t> numbers_of(std::string_view list) {
  constexpr std::string_view kBetween = ", ";
  std::vector<std::uint32_t> made;
  while (true) {
    std::uint32_t number = 0;
    const char* const end = list.data() + list.size();
    const auto [next, error] = std::from_chars(list.data(), end, number);
    if (error != std::errc()) return {};
    made.push_back(number);
    list.remove_prefix(static_cast<std::size_t>(next - list.data()));
    if (list.empty()) return made;
    if (!list.starts_with(kBetween)) return {};
    list.remove_prefix(kBetween.size());
  }
}

}  // namespace

NamedSms named_sms(std::string_view text) {
  constexpr std::string_view kBegin = " [SM ";
  NamedSms made;
  while (true) {
    const std::size_t begin = text.find(kBegin);
    const std::size_t end = begin == text.npos ? text.npos : text.find(']', begin);
    if (end == text.npos) break;
    const std::size_t list = begin + kBegin.size();
    const std::vector<std::uint32_t> numbers = numbers_of(text.substr(list, end - list));
    made.text += text.substr(0, numbers.empty() ? end + 1 : begin);
    made.sms.insert(made.sms.end(), numbers.begin(), numbers.end());
    text.remove_prefix(end + 1);
  }
  made.text += text;
  return made;
}

}  // namespace tidemark::reports
