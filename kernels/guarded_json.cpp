// Follows the parser and refuses what it would take.
#include "kernels/guarded_json.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kDeepest = 5;  // /regions/0/islands/0/0 of a program is in the fifth value
constexpr std::size_t kMostMembers = 64;  // of one object; the parser's time is their square
constexpr std::size_t kLongestShown = 40;

/// Follows the parser, which takes any nesting, and of members of one name keeps the last.
class Watch {
 public:
  using Event = Json::parse_event_t;

  Watch(const std::string& file, std::string_view advice) : file_(file), advice_(advice) {}

  void see(Event event, const Json& parsed) {
    switch (event) {
      case Event::key:
        return see_member(parsed.get<std::string>());
      case Event::object_start:
      case Event::array_start:
        if (open_.size() == kDeepest)
          refuse_at(file_, pointer(), fmt::format("is nested too deep; {}", advice_));
        open_.push_back({.is_list = event == Event::array_start});
        return;
      case Event::object_end:
      case Event::array_end:
        open_.pop_back();
        break;
      case Event::value:
        break;
    }
    if (!open_.empty()) ++open_.back().entries;
  }

  /// Where the value stands that the parser has come to.
  std::string pointer() const {
    std::string text;
    for (const Open& open : open_) {
      if (open.is_list)
        text += fmt::format("/{}", open.entries);
      else if (!open.name.empty())
        text += "/" + open.name;
    }
    return text;
  }

 private:
  /// A list or object whose end has not come yet.
  struct Open {
    bool is_list = false;
    std::size_t entries = 0;
    std::string name = {};  // of the last member, as shown() has it, without quotation marks
    std::set<std::string> names = {};
  };

  void see_member(const std::string& name) {
    Open& object = open_.back();
    object.name.clear();  // what follows is about the object
    if (!object.names.insert(name).second)
      refuse_at(file_, pointer(), fmt::format("has {} twice; keep one", shown(name)));
    if (object.names.size() > kMostMembers)
      refuse_at(file_, pointer(), fmt::format("has over {} members; {}", kMostMembers, advice_));
    object.name = shown(name);
    object.name = object.name.substr(1, object.name.size() - 2);
  }

  const std::string& file_;
  std::string_view advice_;
  std::vector<Open> open_;
};

}  // namespace

[[noreturn]] void refuse_at(const std::string& file, const std::string& pointer,
                            const std::string& what) {
  throw Error(fmt::format("{}: {} {}", file, pointer.empty() ? "/" : pointer, what));
}

/// A value of the file in a message: short, and without control characters.
std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  return value.dump(-1, ' ', true).substr(0, kLongestShown);
}

Json parse_guarded(std::string_view text, const std::string& file, std::string_view advice) {
  // The parser takes a NUL for the end of the text.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Error(fmt::format("{}: has a NUL after {} bytes; {}", file, nul, advice));
  Watch watch(file, advice);
  try {
    return Json::parse(text, [&](int, Json::parse_event_t event, const Json& parsed) {
      watch.see(event, parsed);
      return true;
    });
  } catch (const Json::parse_error& error) {
    if (error.byte > text.size())
      throw Error(fmt::format("{}: ends too soon, after {} bytes; {}", file, text.size(), advice));
    throw Error(fmt::format("{}: is no JSON from byte {} of {} on; {}", file, error.byte,
                            text.size(), advice));
  } catch (const Json::exception&) {
    refuse_at(file, watch.pointer(),
              fmt::format("is a number beyond all that can be read; {}", advice));
  }
}

}  // namespace tidemark
