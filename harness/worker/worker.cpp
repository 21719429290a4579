// The worker process: one device, orders from one pipe, records to another. Whatever goes wrong in
// here costs this process and nothing else.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "harness/launch.hpp"
#include "harness/relay/relay.hpp"
#include "harness/worker/messages.hpp"
#include "harness/worker/test_hook.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Error(std::string("cannot write to the supervisor: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say(const Said& said) { write_all(kRecordsFd, said_line(said)); }

/// The next line of the orders pipe; nothing once the supervisor has closed it.
std::optional<std::string> next_order(std::string& buffer) {
  while (true) {
    const std::size_t end = buffer.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(kOrdersFd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    buffer.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

/// Progress lines, at most ten a second: the supervisor only needs to see that rows go by.
struct Progress {
  Clock::time_point last;

  static void report(void* self, std::uint32_t done, std::uint32_t rows) {
    auto& progress = *static_cast<Progress*>(self);
    const auto now = Clock::now();
    if (now - progress.last < std::chrono::milliseconds(100)) return;
    progress.last = now;
    say(SaidProgress{.done = done, .rows = rows});
  }
};

/// Among those who draw delays: supervisors count from 0.
constexpr std::uint32_t kFirstWorker = 1U << 16U;

class Worker {
 public:
  explicit Worker(const SetupOrder& setup)
      : setup_(setup), hooks_(test_hooks(std::getenv("TIDEMARK_TEST_HOOK"))) {
    const Fault fault = setup.options.fault.empty() ? kNoFault : fault_named(setup.options.fault);
    if (!setup.options.fault.empty() && fault == kNoFault) {
      throw Error("no fault is called '" + setup.options.fault + "'");
    }
    if (const TestHook* hook = hook_at(hooks_, "ready", setup.slot)) act(hook->action);
    device_ = make_device(setup.device, fault);
  }

  /// True while the device can be used for another case.
  bool carry_out(const Order& order) {
    if (const auto* run = std::get_if<RunOrder>(&order)) return run_case_of(*run);
    try {
      if (std::holds_alternative<ProgramOrder>(order)) return run_given_program();
      if (std::holds_alternative<NcclIdOrder>(order)) say(SaidNcclId{.id = make_nccl_id()});
      if (const auto* join = std::get_if<TransportOrder>(&order)) make_transport(*join);
    } catch (const std::exception& refused) {
      say(SaidTrouble{.text = refused.what()});
    }
    return true;
  }

 private:
  bool run_given_program() {
    const TestHook* const hook = hook_at(hooks_, "program", setup_.slot);
    const bool hangs = hook != nullptr && hook->action == HookAction::hang;
    say(SaidStarted{.case_name = "program", .patience_s = hangs ? 1.0 : 0.0});
    if (hook != nullptr) act(hook->action);
    const Program program = program_from_json(program_text(), "program");
    SaidProgram said{.result = device_->run_programs({&program, 1}).front()};
    // They stand beside those of a GPU, and of a program alone they say nothing.
    if (setup_.device == DeviceKind::virtual_device) said.result.sms.clear();
    if (hook != nullptr && hook->action == HookAction::sticky) {
      said.result = {};
      said.result.fault = DeviceFault::sticky;
      said.result.code = kLaunchFailure;
      said.result.note = "test hook";
    }
    const bool usable = said.result.fault != DeviceFault::sticky;
    say(said);
    return usable;
  }

  static std::string program_text() {
    std::string text;
    std::array<char, 65536> bytes{};
    ssize_t got = 0;
    while ((got = ::pread(kProgramFd, bytes.data(), bytes.size(),
                          static_cast<off_t>(text.size()))) > 0)
      text.append(bytes.data(), static_cast<std::size_t>(got));
    if (got < 0) throw Error(std::string("cannot read the program: ") + std::strerror(errno));
    return text;
  }

  void make_transport(const TransportOrder& order) {
    if (hook_at(hooks_, "transport", setup_.slot) != nullptr) throw Error("test hook: transport");
    if (order.kind == TransportKind::nccl) {
      GpuTransport made =
          make_gpu_transport(order.nccl_id, setup_.slot, setup_.slots, order.seconds, order.route);
      transport_ = std::move(made.transport);
      routes_ = std::move(made.routes);
      why_route_ = order.route ? "chosen by --transport" : std::move(made.why);
    } else {
      transport_ = std::make_unique<RelayTransport>(
          kSegmentFd, setup_.slot, HandOverDelays::from_environment(kFirstWorker + setup_.slot));
      routes_ = {PanelRoute::relay};
      why_route_ = "the virtual device knows no other route";
    }
  }

  bool run_case_of(const RunOrder& order) {
    const Case* which = case_named(order.case_name);
    if (which == nullptr) throw Error("no case is called '" + order.case_name + "'");
    const TestHook* const hook = hook_at(hooks_, order.case_name, setup_.slot, order.attempt);
    const auto hooked = [hook](HookAction action) {
      return hook != nullptr && hook->action == action;
    };
    const bool hangs =
        hooked(HookAction::hang) || hooked(HookAction::stop) || hooked(HookAction::endless);
    say(SaidStarted{.case_name = order.case_name, .patience_s = hangs ? 1.0 : 0.0});
    Outcome outcome;
    if (hooked(HookAction::fail) || hooked(HookAction::sticky)) {
      outcome = hooked_outcome(hook->action, order);
    } else if (hooked(HookAction::silent_skip)) {
      outcome.rows_planned = 3;
    } else if (hooked(HookAction::out_of_memory)) {
      Case starved = *which;
      starved.rows = [](const RunContext&) -> std::vector<Op> { throw std::bad_alloc(); };
      outcome = judged(starved, order);
    } else if (hooked(HookAction::illegal)) {
      outcome = judged(with_rows(*which, is_row_1, misaligned_load), order);
    } else if (hooked(HookAction::all_illegal)) {
      outcome = judged(with_rows(
                           *which, [](std::uint32_t) { return true; }, misaligned_load),
                       order);
    } else if (hooked(HookAction::illegal_instruction)) {
      outcome = judged(with_rows(*which, is_row_1, illegal_load), order);
    } else if (hooked(HookAction::endless)) {
      outcome = judged(with_rows(*which, is_row_1, endless_program), order);
    } else if (hooked(HookAction::impatient)) {
      outcome = judged(impatient(*which), order);
    } else {
      const bool too_early = hooked(HookAction::late_crash) && order.row != 2;
      if (hook != nullptr && !too_early) act(hook->action);
      outcome = judged(*which, order);
    }
    const bool usable = !outcome.device_spent;
    say(SaidOutcome{.case_name = order.case_name, .outcome = std::move(outcome)});
    return usable;
  }

  Outcome judged(const Case& which, const RunOrder& order) {
    RunContext context{.level = setup_.options.level,
                       .seed = case_seed(order.seed.value_or(setup_.seed), which.name),
                       .device = setup_.device,
                       .first = setup_.slot == 0,
                       .product = setup_.options.product};
    if (which.scope == CaseScope::all_gpus) {
      context.rank = setup_.slot;
      context.ranks = setup_.slots;
      context.transport = transport_.get();
      context.routes = routes_;
      context.why_route = why_route_;
      if (setup_.slots > 1 && !transport_) {
        return judged_by_hand(Judgement::tool_error, "there is no transport");
      }
    }
    Progress progress;
    const auto slow = setup_.options.slow.find(std::string(which.name));
    const Fault fault = fault_at(hooks_, which.name, setup_.slot);
    const std::unique_ptr<Device> faulty =
        fault == kNoFault ? nullptr : make_device(setup_.device, fault);
    return run_case(which, faulty ? *faulty : *device_, context,
                    {.only_row = order.row < 0 ? setup_.options.row : order.row,
                     .first_row = order.first_row,
                     .slow = slow == setup_.options.slow.end() ? 0 : slow->second,
                     .alone = order.alone,
                     .progress = Progress::report,
                     .progress_arg = &progress});
  }

  static bool is_row_1(std::uint32_t row) { return row == 1; }
  static Op illegal_copy(std::size_t row) {
    return case_named("behaviour.fault.illegal_copies")->rows({}).at(row);
  }
  static Op misaligned_load() { return illegal_copy(0); }
  static Op illegal_load() { return illegal_copy(3); }
  static Op endless_program() {
    Program program;
    program.steps.assign(1000, {.verb = Verb::delay, .ns = 900'000'000});
    return program;
  }

  /// `which` with another row in the places of some.
  static Case with_rows(const Case& which, bool (*replaced)(std::uint32_t row), Op (*other)()) {
    static const Case* original = nullptr;  // rows is a function without captures
    static bool (*chosen)(std::uint32_t) = nullptr;
    static Op (*made)() = nullptr;
    original = &which;
    chosen = replaced;
    made = other;
    Case broken = which;
    broken.rows = [](const RunContext& context) {
      std::vector<Op> rows = original->rows(context);
      for (std::uint32_t row = 0; row < rows.size(); ++row)
        if (chosen(row)) rows[row] = made();
      return rows;
    };
    return broken;
  }

  /// `which` with waits for other ranks that end long before a stopped worker counts as hung.
  static Case impatient(const Case& which) {
    static const Case* original = nullptr;  // rows is a function without captures
    original = &which;
    Case hasty = which;
    hasty.rows = [](const RunContext& context) {
      std::vector<Op> rows = original->rows(context);
      for (Op& row : rows)
        std::visit(
            [](auto& op) {
              if constexpr (requires { op.deadline_s; }) op.deadline_s = 0.3;
            },
            row);
      return rows;
    };
    return hasty;
  }

  static Outcome judged_by_hand(Judgement judgement, const char* reason) {
    Outcome outcome;
    outcome.judgement = judgement;
    outcome.reason = reason;
    return outcome;
  }

  Outcome hooked_outcome(HookAction action, const RunOrder& order) {
    if (action == HookAction::sticky) {
      Outcome outcome = judged_by_hand(Judgement::sticky, "test hook: sticky");
      outcome.device_spent = true;
      return outcome;
    }
    if (order.attempt == 1) return judged_by_hand(Judgement::fail, "test hook: fail");
    return judged(*case_named(order.case_name), order);
  }

  static void take_time(std::uint32_t tenths) {
    for (std::uint32_t i = 0; i < tenths; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      say(SaidProgress{.done = i, .rows = tenths});
    }
  }

  static void act(HookAction action) {
    switch (action) {
      case HookAction::crash:
      case HookAction::late_crash:
        say(SaidProgress{.done = 2, .rows = 3});
        write_all(STDERR_FILENO, "test hook: crash\n");
        ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit of it
        ::raise(SIGSEGV);
        break;
      case HookAction::hang:
        while (true) ::pause();
      case HookAction::abort:
        ::signal(SIGABRT, SIG_DFL);
        ::raise(SIGABRT);
        break;
      case HookAction::kill:
        ::raise(SIGKILL);
        break;
      case HookAction::stop:
        ::raise(SIGSTOP);
        break;
      case HookAction::kill_supervisor:
        ::kill(::getppid(), SIGKILL);
        ::pause();  // this process ends with its supervisor
        break;
      case HookAction::exit:
        write_all(STDERR_FILENO, "test hook: exit\n");
        ::_exit(3);
      case HookAction::slow:
        take_time(30);
        break;
      case HookAction::minute:
        take_time(600);
        break;
      default:  // changes the case: run_case_of()
        break;
    }
  }

  SetupOrder setup_;
  std::vector<TestHook> hooks_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Transport> transport_;  // made later, so gone before the device
  std::vector<PanelRoute> routes_;        // RunContext::routes
  std::string why_route_;                 // likewise
};

int serve() {
  std::string buffer;
  const std::optional<std::string> first = next_order(buffer);
  if (!first) return 0;
  const Order setup = order_in(*first);
  if (!std::holds_alternative<SetupOrder>(setup)) throw Error("the first order is not a setup");
  Worker worker(std::get<SetupOrder>(setup));
  say(SaidReady{});
  while (const std::optional<std::string> line = next_order(buffer)) {
    // After a sticky error every CUDA call fails, those of destructors included: leave at once,
    // also where that error was what the case had to see.
    if (!worker.carry_out(order_in(*line))) ::_exit(0);
  }
  return 0;
}

}  // namespace

int worker_main() {
  // A crash is told by its signal; a core of a process with a GPU mapped would take minutes.
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    if (::fcntl(kOrdersFd, F_GETFD) < 0 || ::fcntl(kRecordsFd, F_GETFD) < 0) {
      throw Error("__worker is started by a supervisor, not by hand: use 'tidemark run'");
    }
    return serve();
  } catch (const std::exception& broken) {
    const std::string text = std::string(broken.what()) + "\n";
    return ::write(STDERR_FILENO, text.data(), text.size()) < 0 ? 71 : 70;
  }
}

}  // namespace tidemark
