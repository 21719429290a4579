// Reads test hooks.
#include "harness/worker/test_hook.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace tidemark {
namespace {

constexpr std::array<std::pair<std::string_view, HookAction>, 19> kActions = {{
    {"crash", HookAction::crash},
    {"hang", HookAction::hang},
    {"exit", HookAction::exit},
    {"slow", HookAction::slow},
    {"minute", HookAction::minute},
    {"fail", HookAction::fail},
    {"sticky", HookAction::sticky},
    {"illegal", HookAction::illegal},
    {"all_illegal", HookAction::all_illegal},
    {"illegal_instruction", HookAction::illegal_instruction},
    {"endless", HookAction::endless},
    {"late_crash", HookAction::late_crash},
    {"abort", HookAction::abort},
    {"kill", HookAction::kill},
    {"stop", HookAction::stop},
    {"impatient", HookAction::impatient},
    {"out_of_memory", HookAction::out_of_memory},
    {"silent_skip", HookAction::silent_skip},
    {"kill_supervisor", HookAction::kill_supervisor},
}};

/// Leaves the action as it is where `name` is none.
bool take_action(std::string_view name, TestHook& hook) {
  hook.once = name.ends_with("_once");
  if (hook.once) name.remove_suffix(5);
  const auto* const found = std::find_if(kActions.begin(), kActions.end(),
                                         [&](const auto& known) { return known.first == name; });
  hook.fault = fault_named(name);
  if (found == kActions.end() && hook.fault == kNoFault) return false;
  hook.action = found == kActions.end() ? HookAction::fault : found->second;
  return true;
}

bool applies(const TestHook& hook, std::string_view case_name, std::uint32_t slot) {
  return hook.case_name == case_name && (hook.slot < 0 || hook.slot == slot);
}

}  // namespace

std::vector<TestHook> test_hooks(const char* text) {
  std::vector<TestHook> hooks;
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; words >> word;) {
    TestHook hook;
    const std::size_t at = word.find('@'), mark = word.find('#');
    if (at == std::string::npos || !take_action(word.substr(0, at), hook)) continue;
    hook.case_name = word.substr(at + 1, mark - at - 1);
    if (mark != std::string::npos && mark + 1 < word.size()) hook.slot = word[mark + 1] - '0';
    hooks.push_back(std::move(hook));
  }
  return hooks;
}

const TestHook* hook_at(const std::vector<TestHook>& hooks, std::string_view case_name,
                        std::uint32_t slot, std::uint32_t attempt) {
  for (const TestHook& hook : hooks)
    if (hook.action != HookAction::fault && applies(hook, case_name, slot) &&
        (attempt == 1 || !hook.once))
      return &hook;
  return nullptr;
}

Fault fault_at(const std::vector<TestHook>& hooks, std::string_view case_name, std::uint32_t slot) {
  for (const TestHook& hook : hooks)
    if (hook.action == HookAction::fault && applies(hook, case_name, slot)) return hook.fault;
  return kNoFault;
}

}  // namespace tidemark
