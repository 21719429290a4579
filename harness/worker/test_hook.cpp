// Reads the test hook.
#include "harness/worker/test_hook.hpp"

#include <array>
#include <utility>

namespace tidemark::harness {
namespace {

constexpr std::array<std::pair<std::string_view, HookAction>, 14> kActions = {{
    {"crash", HookAction::crash},
    {"hang", HookAction::hang},
    {"exit", HookAction::exit},
    {"slow", HookAction::slow},
    {"fail", HookAction::fail},
    {"sticky", HookAction::sticky},
    {"illegal", HookAction::illegal},
    {"all_illegal", HookAction::all_illegal},
    {"late_crash", HookAction::late_crash},
    {"abort", HookAction::abort},
    {"stop", HookAction::stop},
    {"out_of_memory", HookAction::out_of_memory},
    {"silent_skip", HookAction::silent_skip},
    {"kill_supervisor", HookAction::kill_supervisor},
}};

}  // namespace

std::optional<TestHook> parse_test_hook(const char* text) {
  const std::string_view hook = text == nullptr ? "" : text;
  const std::size_t at = hook.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  for (const auto& [name, action] : kActions) {
    if (name != hook.substr(0, at)) continue;
    const std::size_t mark = hook.find('#');
    TestHook parsed{.action = action, .case_name = std::string(hook.substr(at + 1, mark - at - 1))};
    if (mark != std::string_view::npos && mark + 1 < hook.size()) {
      parsed.slot = hook[mark + 1] - '0';
    }
    return parsed;
  }
  return std::nullopt;
}

bool hook_applies(const std::optional<TestHook>& hook, std::string_view case_name,
                  std::uint32_t slot) {
  return hook && hook->case_name == case_name && (hook->slot < 0 || hook->slot == slot);
}

}  // namespace tidemark::harness
