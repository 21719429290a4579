// One meeting: every rank brings what it sees, rank 0 also what it has chosen.
#include "harness/supervisor/opening.hpp"

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/clock.hpp"
#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/launch_options.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/version.hpp"
#include "harness/worker/test_hook.hpp"
#include "kernels/error.hpp"
#include "reports/base/disk.hpp"
#include "reports/policy/policy.hpp"
#include "reports/store/replace_file.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

/// Taking the inventory may need 75 s, and no sign of life goes out meanwhile.
constexpr double kSilence = 120;

/// Variables that change what is measured. The rest of the environment is nobody's business.
constexpr std::array<const char*, 12> kKeptVariables = {
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_MODULE_LOADING",  "NCCL_ALGO",
    "NCCL_PROTO",           "NCCL_P2P_LEVEL",
    "NCCL_NVLS_ENABLE",     "NCCL_DEBUG",
    "NCCL_SOCKET_IFNAME",   "NCCL_HOSTID",
    "TIDEMARK_TEST_HOOK",   "TIDEMARK_TEST_DELAYS"};

template <typename Bytes>
Bytes random_bytes() {
  Bytes bytes{};
  if (::getrandom(&bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    throw Error(std::string("no random numbers: ") + std::strerror(errno));
  }
  return bytes;
}

std::string new_run_id() {
  auto bytes = random_bytes<std::array<unsigned char, 16>>();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0fU) | 0x40U);  // RFC 4122, version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3fU) | 0x80U);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::uint64_t seed_of(const LaunchOptions& options, const Resumed& resumed) {
  if (!resumed.folder.empty()) return resumed.seed;
  return options.seed ? *options.seed : random_seed();
}

Json choose_head(const LaunchOptions& options, std::uint32_t number, const Resumed& resumed) {
  const auto report = [&](std::uint32_t which) {
    return report_name(options.out, which, options.launches);
  };
  const auto check = [](const std::string& path) {
    on_disk(path, kDiskSeconds, [path] { check_output(path); });
  };
  const std::string out = report(number);
  if (options.launches > 1 && std::filesystem::path(out).extension().empty())
    throw UsageError(fmt::format(
        "--out {}: several launches need a name that ends in .h5 (X.h5: X-1.h5 ...)", options.out));
  check(out);
  // Not after an hour: the others are asked for before the first one runs.
  for (std::uint32_t other = 2; number == 1 && other <= options.launches; ++other)
    check(report(other));
  Json environment = Json::array();
  for (const char* name : kKeptVariables) {
    if (const char* value = std::getenv(name)) environment.push_back({name, value});
  }
  PolicyRecord policy{.strict = options.strict};
  if (!options.policy.empty()) policy.waivers = read_policy(options.policy).waivers;
  return {{"out", out},          {"run_id", new_run_id()},     {"seed", seed_of(options, resumed)},
          {"created", unix_s()}, {"environment", environment}, {"policy", to_line(policy)}};
}

std::string build_name() {
  const BuildVersion build = build_version();
  return fmt::format("{} {} kernels {} suite {}", build.version, build.git_hash, build.kernels_tree,
                     build.suite_tree);
}

/// All options that change results, name and value; not given: an empty value.
Json asked_for(const LaunchOptions& options, const Resumed& resumed) {
  constexpr const char* kHookVariable = "TIDEMARK_TEST_HOOK";  // a report names that of rank 0
  Json asked = Json::array(
      {{"the verb", options.bench ? "bench" : "run"}, {kHookVariable, variable_of(kHookVariable)}});
  for (const LaunchField& field : launch_fields())
    if (field.reach != OptionReach::process) asked.push_back({field.name, field.text(options)});
  asked.push_back({"--resume", options.resume.empty()
                                   ? ""
                                   : fmt::format("of run {}, digest {:x}", resumed.run_id,
                                                 digest_of(resumed))});
  return asked;
}

Json own_view(const LaunchOptions& options, std::uint32_t number, const Mesh& mesh,
              Opening& opening) {
  GpuInventory& inventory = opening.inventory;
  if (!options.resume.empty())
    opening.resumed =
        on_disk(options.resume, 2 * kDiskSeconds, [options] { return read_resumed(options); });
  const NodeRecord node = describe_node(mesh.rank(), mesh.library());
  Json view = {{"build", build_name()}, {"asked", asked_for(options, opening.resumed)}};
  if (mesh.rank() == 0) view["head"] = choose_head(options, number, opening.resumed);
  if (options.device != DeviceChoice::virtual_device) {
    inventory = take_inventory();
  } else if (hook_at(test_hooks(std::getenv("TIDEMARK_TEST_HOOK")), "device", mesh.rank()) !=
             nullptr) {
    inventory.problem = "test hook: device";
  }
  view["machine"] = node.boot_id.empty() ? node.hostname : node.boot_id;
  view["free_memory"] = free_memory();
  view["nvidia_present"] = inventory.nvidia_present;
  view["visible"] = to_json(inventory.visible);
  view["problem"] = inventory.problem;
  view["busy"] = busy_gpus(inventory);
  return view;
}

/// What goes wrong here goes to all, so that all leave for the same reason.
std::string view_or_refusal(const LaunchOptions& options, std::uint32_t number, const Mesh& mesh,
                            Opening& opening) {
  Json view;
  try {
    view = own_view(options, number, mesh, opening);
  } catch (const UsageError& error) {
    view = {{"usage", error.what()}};
  } catch (const ReportError& error) {  // of the policy, or of the journals to resume
    view = {{"usage", error.what()}};
  } catch (const std::exception& error) {
    view = {{"environment", error.what()}};
  }
  view["host"] = describe_node(mesh.rank(), mesh.library()).hostname;
  return view.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Head head_in(const Json& json) {
  Head head{.out = json.at("out"),
            .run_id = json.at("run_id"),
            .seed = json.at("seed"),
            .created_unix_s = json.at("created"),
            .environment = {},
            .policy = {}};
  const JournalText told = parse_journal(json.at("policy"));
  head.policy = std::get<PolicyRecord>(told.records.at(0));
  for (const Json& variable : json.at("environment")) {
    head.environment.emplace_back(variable.at(0), variable.at(1));
  }
  return head;
}

/// "with --level quick", "without --slow"
std::string option_text(const Json& option) {
  const std::string name = option.at(0), value = option.at(1);
  return value.empty() ? "without " + name : fmt::format("with {} {}", name, value);
}

/// Of what two ranks were given: their words for --resume differ where folders of the same name do.
std::string_view remedy_for(const Json& one, const Json& two) {
  const bool both = !one.at(1).get<std::string>().empty() && !two.at(1).get<std::string>().empty();
  return one.at(0) == "--resume" && both
             ? "copy the journals of all hosts into one folder, for every rank"
             : "give every rank the same arguments";
}

void check_asked(std::size_t rank, const Json& asked, const Json& asked_of_0) {
  for (std::size_t i = 0; i < asked_of_0.size(); ++i) {
    if (asked.at(i) == asked_of_0.at(i)) continue;
    throw UsageError(fmt::format("rank {} was started {} and rank 0 {}; {}", rank,
                                 option_text(asked.at(i)), option_text(asked_of_0.at(i)),
                                 remedy_for(asked.at(i), asked_of_0.at(i))));
  }
}

void check_views(const std::vector<Json>& views) {
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    const std::string who =
        views.size() > 1
            ? fmt::format("rank {} on {}: ", rank, views[rank].at("host").get<std::string>())
            : "";
    if (views[rank].contains("usage")) {
      throw UsageError((rank > 0 ? who : "") + views[rank].at("usage").get<std::string>());
    }
    if (views[rank].contains("environment")) {
      throw EnvironmentError(who + views[rank].at("environment").get<std::string>());
    }
    if (views[rank].at("build") != views[0].at("build")) {
      throw EnvironmentError(fmt::format(
          "rank {} on {} runs another build ({}) than rank 0 ({}): install the same "
          "everywhere",
          rank, views[rank].at("host").get<std::string>(),
          views[rank].at("build").get<std::string>(), views[0].at("build").get<std::string>()));
    }
    check_asked(rank, views[rank].at("asked"), views[0].at("asked"));
  }
}

RankView rank_view(const Json& json) {
  return {.machine = json.at("machine"),
          .nvidia_present = json.at("nvidia_present"),
          .visible = gpus_from_json(json.at("visible")),
          .problem = json.at("problem"),
          .busy = json.at("busy"),
          .host = json.at("host")};
}

[[noreturn]] void silent_ranks(const std::vector<std::uint32_t>& silent) {
  throw EnvironmentError(fmt::format("rank {} did not answer for {:.0f} s: look at its node",
                                     fmt::join(silent, ", "), kSilence));
}

/// Rank 0: what follows from what all ranks see, as all of them have to know it. Views of ten
/// thousand ranks on each of them would be 10 MB there, and 100 GB from rank 0.
Json decided(const LaunchOptions& options, const Mesh& mesh, const std::vector<Json>& views) {
  check_views(views);
  std::vector<RankView> ranks;
  std::set<std::string> machines;
  for (const Json& view : views) {
    ranks.push_back(rank_view(view));
    machines.insert(ranks.back().machine);
  }
  const Assignment assignment = assign_gpus(ranks, options, mesh.launched());
  const bool is_virtual = assignment.kind == DeviceKind::virtual_device;
  std::map<std::string, std::size_t> hosts;
  Json host_names = Json::array(), places = Json::array();
  std::vector<SlotMemory> memory;
  for (std::uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
    const auto [host, is_new] = hosts.try_emplace(ranks[rank].host, hosts.size());
    if (is_new) host_names.push_back(host->first);
    Json place = Json::array({host->second});
    const std::vector<GpuProperties>& gpus = assignment.gpus.at(rank);
    for (std::uint32_t i = 0; i < gpus.size(); ++i) {
      place.push_back(is_virtual ? describe_virtual(rank, i).uuid : gpus[i].uuid);
      memory.push_back({.machine = ranks[rank].machine,
                        .host = ranks[rank].host,
                        .gpu_bytes = gpus[i].memory_bytes,
                        .machine_free = views[rank].at("free_memory")});
    }
    places.push_back(std::move(place));
  }
  check_grid(options.product.grid, static_cast<std::uint32_t>(memory.size()));
  check_product_memory(options.product, assignment.kind, memory);
  return {{"head", views[0].at("head")}, {"virtual", is_virtual}, {"left_out", assignment.left_out},
          {"nodes", machines.size()},    {"hosts", host_names},   {"places", places}};
}

/// The same with a refusal in its place, which all ranks get to hear.
Json decided_or_refusal(const LaunchOptions& options, const Mesh& mesh, const Gathered& all) {
  try {
    if (!all.complete()) silent_ranks(all.silent);
    std::vector<Json> views;
    for (const std::string& part : all.parts) views.push_back(Json::parse(part));
    return decided(options, mesh, views);
  } catch (const UsageError& error) {
    return {{"usage", error.what()}};
  } catch (const EnvironmentError& error) {
    return {{"environment", error.what()}};
  }
}

void open_with(Opening& opening, const Mesh& mesh, const Json& told) {
  if (told.contains("usage")) throw UsageError(told.at("usage").get<std::string>());
  if (told.contains("environment"))
    throw EnvironmentError(told.at("environment").get<std::string>());
  opening.head = head_in(told.at("head"));
  opening.nodes = told.at("nodes");
  opening.assignment.kind =
      told.at("virtual").get<bool>() ? DeviceKind::virtual_device : DeviceKind::cuda;
  opening.assignment.left_out = told.at("left_out");
  opening.assignment.gpus.resize(mesh.ranks());
  for (std::uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
    const Json& place = told.at("places").at(rank);
    opening.hosts.push_back(told.at("hosts").at(place.at(0).get<std::size_t>()));
    for (std::size_t i = 1; i < place.size(); ++i) {
      opening.places.push_back({.rank = rank, .uuid = place.at(i), .host = opening.hosts.back()});
      if (rank != mesh.rank()) continue;
      GpuProperties mine;  // of a virtual device nothing
      for (const GpuProperties& seen : opening.inventory.visible)
        if (seen.uuid == opening.places.back().uuid) mine = seen;
      opening.assignment.gpus[rank].push_back(mine);
    }
  }
  opening.resumed = on_slots(std::move(opening.resumed), opening.places);
}

/// A time limit does not end the opening: ranks notice theirs at different moments, and some would
/// go on to cases that the others never come to. All of them open, run nothing, and say so.
bool is_killed(StopWatch& stop) {
  const std::optional<StopReason>& reason = stop.check();
  return reason && reason->signal != 0;
}

Patience patience(StopWatch& stop) {
  return {.silence_s = kSilence, .total_s = 600, .meanwhile = [&stop] { return !is_killed(stop); }};
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

std::uint64_t random_seed() { return random_bytes<std::uint64_t>(); }

std::string journal_folder(const std::string& out) { return out + ".run"; }

void check_output(const std::string& out) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--out {}: {}", out, why));
  };
  if (!is_utf8(out)) refuse("the name is no UTF-8, which reports and JSON need; choose another");
  const std::filesystem::path path(out);
  constexpr std::array kOthers = {".json", ".xml", ".html", ".md", ".csv", ".txt"};
  if (std::find(kOthers.begin(), kOthers.end(), path.extension()) != kOthers.end())
    refuse(
        "a report is HDF5; give a name that ends in .h5 ('tidemark show --json' prints one as "
        "JSON)");
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  std::error_code error;
  // Of a link the link itself: the report would replace it, wherever it leads.
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::none) {
    refuse(fmt::format("{}; choose another name", error.message()));
  }
  if (std::filesystem::exists(status)) refuse("exists; choose another name");
  if (!is_there(parent + "/.")) {
    refuse(fmt::format("there is no folder {}; make it first", parent));
  }
  // Trying is the only test that holds for every file system, every right and every length of name.
  const std::string folder = journal_folder(out);
  if (::mkdir(folder.c_str(), 0777) != 0) {
    if (errno == EEXIST) {
      refuse(
          fmt::format("another launch writes there, or its journals were left: make a report of "
                      "them (tidemark recover {}), or choose another --out",
                      shell_word(folder)));
    }
    refuse(
        fmt::format("cannot write in {}: {}; choose another place", parent, std::strerror(errno)));
  }
  ::rmdir(folder.c_str());
  // The name under which write_report begins: it is the longest of all.
  static_cast<void>(TemporaryFile(out, "choose another name"));
}

std::string default_out(const std::string& host) {
  return fmt::format("tidemark-{}-{:%Y%m%dT%H%M%SZ}.h5", host, fmt::gmtime(std::time(nullptr)));
}

std::optional<Opening> open_launch(const LaunchOptions& options, std::uint32_t number, Mesh& mesh,
                                   StopWatch& stop) {
  Opening opening;
  mesh.enter(number, Stage::opening);
  const Gathered all = mesh.gather(view_or_refusal(options, number, mesh, opening), patience(stop));
  Json told;
  if (mesh.rank() == 0 && !is_killed(stop)) told = decided_or_refusal(options, mesh, all);
  const std::optional<std::string> heard =
      mesh.broadcast(told.dump(-1, ' ', false, Json::error_handler_t::replace), patience(stop));
  if (is_killed(stop)) return std::nullopt;
  if (heard) told = Json::parse(*heard);
  if (!told.is_object()) silent_ranks({0});  // it was killed
  open_with(opening, mesh, told);
  return opening;
}

void agree(Mesh& mesh, StopWatch& stop, const std::vector<std::string>& hosts,
           const std::string& refusal) {
  const FirstWord first = mesh.first_word(refusal, patience(stop));
  if (!first.silent.empty() && !is_killed(stop)) silent_ranks(first.silent);
  if (!refusal.empty() && is_killed(stop)) throw UsageError(refusal);
  if (first.text.empty()) return;
  const std::string who =
      mesh.ranks() > 1 ? fmt::format("rank {} on {}: ", first.rank, hosts.at(first.rank)) : "";
  throw UsageError(who + first.text);
}

}  // namespace tidemark
