// tidemark version: says what this program was built from and with.
#include "harness/version.hpp"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harness/verbs/verbs.hpp"

namespace tidemark {
namespace {

void print_json(const BuildVersion& built) {
  const nlohmann::json json = {{"version", built.version},
                               {"git", built.git_hash},
                               {"kernels_tree", built.kernels_tree},
                               {"suite_tree", built.suite_tree},
                               {"compiler", built.compiler},
                               {"nvcc", built.nvcc},
                               {"cuda", built.cuda},
                               {"nccl", built.nccl},
                               {"mpi", built.mpi},
                               {"hdf5", built.hdf5}};
  print_out(json.dump(2) + '\n');
}

void print_text(const BuildVersion& built) {
  const auto with = [](bool there) { return there ? "yes" : "no"; };
  print_out(fmt::format(
      "tidemark    {}\ngit         {}\nkernels     {}\nsuite       {}\ncompiler    g++ {}\n"
      "nvcc        {}\nbuilt with  cuda {}, nccl {}, mpi {}, hdf5 {}\n",
      built.version, built.git_hash, built.kernels_tree, built.suite_tree, built.compiler,
      built.nvcc.empty() ? "none" : built.nvcc, with(built.cuda), with(built.nccl), with(built.mpi),
      built.hdf5));
}

}  // namespace

void add_version(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("version", "Print version and build");
  verb->footer("tidemark version --json");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "As JSON");
  verb->callback([json, &chosen] {
    chosen = [json] {
      *json ? print_json(build_version()) : print_text(build_version());
      return ExitCode::ok;
    };
  });
}

}  // namespace tidemark
