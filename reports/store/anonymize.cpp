// Makes a report that can be shared. Names become hashes by their columns, and no text stays that
// somebody else than tidemark may have written: nothing is searched for, so nothing is overlooked.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "reports/base/error.hpp"
#include "reports/base/hash.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

constexpr std::string_view kLeftOutText = "left out of an anonymized report";

SipKey random_key() {
  SipKey key{};
  if (::getentropy(key.data(), sizeof key) != 0) {
    throw ReportError(
        fmt::format("no random numbers to hash names with: {}; try again", error_text(errno)));
  }
  return key;
}

/// The prefix and 12 digits; empty stays empty. The key is kept nowhere, so that nobody can try
/// names until a hash of the report fits.
std::string hashed(const SipKey& key, std::string_view prefix, std::string_view name) {
  return name.empty() ? "" : fmt::format("{}{:012x}", prefix, siphash(key, name) >> 16);
}

std::string disclosed(const SipKey& key, const Column& column, std::string_view text) {
  if (column.disclosure == Disclosure::dropped) return {};
  if (column.disclosure == Disclosure::hashed) return hashed(key, column.hash_prefix, text);
  return std::string(text);
}

/// "0,1,2" or "4194304", but no address of a machine.
bool is_numbers(std::string_view value) {
  return !value.empty() && value.find_first_not_of("0123456789,") == std::string_view::npos;
}

bool lists(std::string_view words, std::string_view one) {
  return fmt::format(" {} ", words).find(fmt::format(" {} ", one)) != std::string::npos;
}

/// What `--gpus` names, by number: of a UUID or the start of one its index on its machine.
std::string gpu_numbers(const Report& report, const SipKey& key, std::string_view value) {
  std::vector<std::string> made;
  while (!value.empty()) {
    const std::string_view one = value.substr(0, value.find(','));
    value.remove_prefix(std::min(one.size() + 1, value.size()));
    const auto gpu = std::ranges::find_if(
        report.gpus, [one](const GpuRow& row) { return row.uuid.view().starts_with(one); });
    made.push_back(is_numbers(one)            ? std::string(one)
                   : gpu == report.gpus.end() ? hashed(key, "GPU-anon-", one)
                                              : fmt::format("{}", gpu->local_index));
  }
  return fmt::format("{}", fmt::join(made, ","));
}

std::string option_value(const Report& report, const SipKey& key, std::string_view option,
                         std::string_view value) {
  // Names of tidemark's own, which a launch refuses where they are none, and numbers. In front of
  // the first option stand the verb and cases; -n and --oversubscribe are mpirun's.
  constexpr std::string_view kOwn =
      "--level --device --cases --exclude --transport --seed --slow --fault --grid --time-limit -n "
      "--oversubscribe";
  if (option == "--gpus") return gpu_numbers(report, key, value);
  if (option.empty() || lists(kOwn, option) || is_numbers(value)) return std::string(value);
  return hashed(key, "value-", value);
}

/// The words of a command line of tidemark's, without what only its user can know.
std::vector<std::string> shared_words(const Report& report, const SipKey& key,
                                      std::vector<std::string> words) {
  constexpr std::string_view kOptions =
      "--anonymise --anonymize --calibrate --cases --device --exclude --expect-gpus --fault "
      "--gemm-table --gpus --grid --jit --json --k --launches --level --m --n --out "
      "--oversubscribe "
      "--policy --ranks --resume --row --seed --slow --strict --strict-gpus --time-limit "
      "--transport -n";
  std::string option;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (i == 0) {
      if (words[i] != "mpirun") words[i] = "tidemark";  // a path
    } else if (!words[i].starts_with('-')) {
      words[i] = option_value(report, key, option, words[i]);
    } else if (option = words[i].substr(0, equals); !lists(kOptions, option)) {
      words[i] = hashed(key, "value-", words[i]);  // half of a path with a space, for example
    } else {
      if (equals != std::string::npos)
        words[i] = option + "=" +
                   option_value(report, key, option, std::string_view(words[i]).substr(equals + 1));
    }
  }
  return words;
}

std::string shared_command(const Report& report, const SipKey& key, std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    words.emplace_back(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(words.back().size() + 1, line.size()));
  }
  return fmt::format("{}", fmt::join(shared_words(report, key, std::move(words)), " "));
}

constexpr std::string_view kArgument = "argument.";

std::vector<std::string> arguments_of(const Report& report) {
  std::vector<std::string> made;
  for (const ProvenanceRow& row : report.provenance) {
    if (report.text(row.key).starts_with(kArgument)) made.emplace_back(report.text(row.value));
  }
  return made;
}

/// The value of any key but `argument.<number>`.
std::string shared_value(const SipKey& key, std::string_view name, std::string_view value) {
  constexpr std::string_view kOwn =
      "tool_version git_hash kernels_tree suite_tree nvcc compiler gemm_table.hash policy.strict "
      "environment.TIDEMARK_TEST_HOOK environment.TIDEMARK_TEST_DELAYS";
  // Of CUDA_MODULE_LOADING, NCCL_ALGO, NCCL_PROTO, NCCL_P2P_LEVEL and NCCL_DEBUG.
  constexpr std::string_view kWords =
      "LAZY EAGER Ring Tree CollnetDirect CollnetChain NVLS NVLSTree PAT LL LL128 Simple LOC NVL "
      "PIX "
      "PXB PHB SYS VERSION WARN INFO TRACE";
  if (lists(kOwn, name) || lists(kWords, value) || name.starts_with("slow.") ||
      name.starts_with("noise.") || is_numbers(value))
    return std::string(value);
  // "in use: ...": the rest names people.
  if (name.starts_with("waiver.") && value.find(':') != std::string_view::npos)
    return fmt::format("{}: {}", value.substr(0, value.find(':')), kLeftOutText);
  return hashed(key, "value-", value);
}

/// What tidemark's own words in a reason say, in words without a name; empty where there are none.
std::string_view own_words(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> kOwn[] = {
      {" GPUs or more, and this launch has ", "needs more GPUs than this launch has"},
      {"this GPU cannot start the operation", "this GPU cannot start the operation"},
      {"nothing to measure on this device", "nothing to measure on this device"},
      {"correct_by case ", "the case that it requires did not pass"},
      {"no progress for ", "no progress until its deadline"},
      {"the worker had no device after ", "its worker had no device at its deadline"},
      {" s after SIGKILL: ", "its worker did not end after SIGKILL: it is stuck in the driver"},
      {" cases hung on this GPU", "several cases hung on this GPU, so nothing more was run on it"},
      {" hung in the same round", "another GPU hung in the same round"},
      {" crashed in the same round", "another GPU crashed in the same round"},
      {" had a sticky error in the same round", "another GPU had a sticky error in that round"},
      {" broke off in the same round", "another GPU broke off in the same round"},
      {"was running when the launch ended", "was running when the launch ended"},
      {"no rank reported GPU ", "no rank reported this GPU"},
      {" ended without running it", "its rank ended without running it"},
      {" did not get to it", "its rank did not get to it"},
      {"the launch ended", "the launch ended"}};
  for (const auto& [words, said] : kOwn)
    if (reason == said || reason.find(words) != reason.npos) return said;
  return {};
}

/// Why a result is no pass, by its numbers and tidemark's own words alone: a reason may end with
/// what a worker said last.
std::string shared_reason(const Report& report, const ResultRow& result,
                          const MiscompareRow* first) {
  const std::string_view reason = report.text(result.reason);
  if (reason.empty()) return {};
  // "fail, waived until 2026-12-31": compare reads it.
  if (result.verdict == Verdict::waived) return std::string(reason.substr(0, reason.find(" by ")));
  std::vector<std::string> made;
  if (result.rows_failed > 0)
    made.push_back(fmt::format("{} of {} rows failed", result.rows_failed, result.rows_run));
  if (first != nullptr)
    made.push_back(fmt::format("row {}, {}: {}", first->row, report.text(first->what),
                               report.text(first->text)));
  if (result.cuda_error != 0) made.push_back(fmt::format("CUDA error {}", result.cuda_error));
  if (result.signal != 0)
    made.push_back(fmt::format(
        "the worker {} by signal {}",
        result.verdict == Verdict::tool_error ? "was killed from outside (out of memory?)" : "died",
        result.signal));
  if (result.exit_code != 0)
    made.push_back(fmt::format("the worker left with status {}", result.exit_code));
  if (const std::string_view own = own_words(reason); made.empty() && !own.empty())
    made.emplace_back(own);
  if (made.empty()) made.emplace_back(kLeftOutText);
  return fmt::format("{}", fmt::join(made, "; "));
}

/// Writes the texts of columns that are `rewritten` anew.
void rewrite(Report& report, const SipKey& key) {
  const auto index_of = [&report](std::string text) {
    report.strings.push_back(std::move(text));
    return static_cast<std::uint32_t>(report.strings.size() - 1);
  };
  // Most results share their texts with others.
  const auto once = [&](auto& known, std::uint32_t& index, const auto& shared) {
    const auto [at, is_new] = known.try_emplace(index, 0);
    if (is_new) at->second = index_of(shared(report.text(index)));
    index = at->second;
  };
  std::unordered_map<std::uint32_t, const MiscompareRow*> first;  // by result
  for (const MiscompareRow& row : report.miscompares) first.try_emplace(row.result_id, &row);
  std::unordered_map<std::uint32_t, std::uint32_t> replays, notes;
  for (ResultRow& row : report.results) {
    if (row.reason != 0) {
      const auto wrong = first.find(row.result_id);
      row.reason =
          index_of(shared_reason(report, row, wrong == first.end() ? nullptr : wrong->second));
    }
    once(replays, row.replay,
         [&](std::string_view line) { return shared_command(report, key, line); });
    once(notes, row.notes, without_stale_notes);
  }
  for (EventRow& row : report.events) {
    if (report.text(row.source) != "nvml") row.text = index_of(std::string(kLeftOutText));
  }
  const std::vector<std::string> arguments = shared_words(report, key, arguments_of(report));
  auto argument = arguments.begin();
  for (ProvenanceRow& row : report.provenance) {
    const std::string_view name = report.text(row.key);
    row.value =
        index_of(name.starts_with(kArgument) ? *argument++
                                             : shared_value(key, name, report.text(row.value)));
  }
  LaunchRow& launch = report.launch;
  if (!launch.complete)
    launch.incomplete_reason =
        fmt::format("{} of {} ranks reported; the reason is {}", launch.ranks_reported,
                    launch.ranks_expected, kLeftOutText);
}

/// Makes the list of strings anew, of what the columns disclose.
void disclose(Report& report, const SipKey& key) {
  for (const LaunchAttribute& attribute : launch_attributes()) {
    const auto* const text = std::get_if<std::string LaunchRow::*>(&attribute.member);
    if (text != nullptr && attribute.disclosure == Disclosure::dropped)
      (report.launch.*(*text)).clear();
  }
  const std::vector<std::string> before = std::exchange(report.strings, {""});
  std::unordered_map<std::string, std::uint32_t> indices = {{"", 0}};
  for_each_table(report, [&](const Table& table, auto& rows) {
    for (const Column& column : table.columns) {
      const bool fixed = column.type == ColumnType::text;
      if (!fixed && column.refers != kStringBytes) continue;
      std::vector<std::uint32_t> known(fixed ? 0 : before.size(), kNoRow);
      for (auto& row : rows) {
        char* const place = reinterpret_cast<char*>(&row) + column.offset;
        if (fixed) {
          std::string text = disclosed(key, column, {place, ::strnlen(place, column.count)});
          text.resize(column.count);
          std::ranges::copy(text, place);
          continue;
        }
        const std::uint32_t was = index_in(column, reinterpret_cast<const std::byte*>(&row));
        if (known[was] == kNoRow) {
          const auto [at, is_new] =
              indices.try_emplace(disclosed(key, column, before[was]),
                                  static_cast<std::uint32_t>(report.strings.size()));
          if (is_new) report.strings.push_back(at->first);
          known[was] = at->second;
        }
        std::memcpy(place, &known[was], sizeof known[was]);
      }
    }
  });
}

}  // namespace

Report anonymized(Report report) {
  const SipKey key = random_key();
  rewrite(report, key);
  disclose(report, key);
  report.launch.anonymised = true;
  return report;
}

}  // namespace tidemark
