// Writes down what a tuning run found.
#include "ci/lab/gemm/tune_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DuelScore& score, double operations) {
  Json samples = Json::array();  // theirs, ours, theirs
  for (const PairTimes& pair : score.pairs)
    samples.push_back(
        {operations / pair.before_ns, operations / pair.ours_ns, operations / pair.behind_ns});
  return {{"ours_tflops", operations / score.ours_ns},
          {"theirs_tflops", operations / score.theirs_ns},
          {"ratio", score.ratio},
          {"spread", score.spread},
          {"drift", score.drift},
          {"void", is_void(score)},
          {"samples_tflops", std::move(samples)}};
}

/// TFLOP/s; null where it was not timed.
Json rate(double operations, double ns) {
  return ns > 0 && std::isfinite(ns) ? Json(operations / ns) : Json();
}

Json json_of(const Ranking& ranking, double operations) {
  Json all = Json::array();
  for (const Heuristic& one : ranking.all)
    all.push_back({{"first_look", rate(operations, one.first_look_ns)},
                   {"at_work", rate(operations, one.at_work_ns)},
                   {"rested", rate(operations, one.rested_ns)}});
  return {{"at_work", ranking.at_work}, {"rested", ranking.rested}, {"heuristics_tflops", all}};
}

/// What NVML does not say is null.
Json json_of(const PowerDraw& draw) {
  return {{"host_bound", draw.host_bound},
          {"watts", draw.watts},
          {"joules", draw.joules},
          {"sm_mhz", draw.sm_mhz},
          {"temperature_c", draw.temperature},
          {"tensor_use", draw.tensor_use}};
}

Json json_of(const Shape& shape) {
  Json json = {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
  if (is_pitched(shape)) json.update({{"lda", shape.lda}, {"ldb", shape.ldb}, {"ldc", shape.ldc}});
  if (shape.a_major == Major::mn) json["a_major"] = "m";
  if (shape.b_major == Major::mn) json["b_major"] = "n";
  if (shape.element != GemmElement::bf16) json["element"] = name_of(shape.element);
  return json;
}

/// Our rate over that of the neighbour.
Json beside(const DuelScore& score) {
  return {{"ratio", score.ratio}, {"drift", score.drift}, {"void", is_void(score)}};
}

void print(const char* what, const DuelScore& score, double operations) {
  fmt::print("  {:<6} {:>6.1f} to {:>6.1f} TFLOP/s  {:.4f} +- {:.4f}  drift {:+.4f}{}", what,
             operations / score.ours_ns, operations / score.theirs_ns, score.ratio,
             score.spread / 2, score.drift, is_void(score) ? " VOID" : "");
}

void print(const char* whose, const PowerDraw& draw) {
  fmt::print(
      "\n {:<41}{:<6} {:.0f} W, {:.4f} J, {:.0f} MHz, {:.0f} C, {:.1f} % of the tensor cores", "",
      whose, draw.watts, draw.joules, draw.sm_mhz, draw.temperature, 100 * draw.tensor_use);
  if (draw.host_bound) fmt::print("; the GPU waited for the host");
}

}  // namespace

bool is_void(const DuelScore& score) { return std::abs(score.drift) > kVoidDrift; }

bool is_void_steady(const Tried& tried) {
  return is_void(tried.steady) || tried.ours.host_bound || tried.theirs.host_bound;
}

Json json_of(const Tuned& tuned) {
  const double operations = operations_of(tuned.shape) * 1e-3;
  Json tried = Json::array();
  for (const Tried& one : tuned.tried) {
    Json entry = {{"name", one.name}, {"exact", one.trouble.empty()}, {"race", one.race}};
    if (!one.trouble.empty()) entry["trouble"] = one.trouble;
    if (one.steady.ratio > 0) {
      entry["steady"] = json_of(one.steady, operations);
      entry["steady"]["void"] = is_void_steady(one);
      entry["draw"] = {{"ours", json_of(one.ours)}, {"theirs", json_of(one.theirs)}};
    }
    if (one.cool.ratio > 0) entry["cool"] = json_of(one.cool, operations);
    tried.push_back(std::move(entry));
  }
  const Tried* const best = best_of(tuned);
  const Tried* const chosen = chosen_of(tuned);
  Json json = json_of(tuned.shape);
  json["copies"] = tuned.copies;
  if (is_pitched(tuned.shape)) {
    json["neighbour"] = json_of(neighbour_of(tuned.shape));
    if (tuned.beside_steady.ratio > 0) {
      json["neighbour"]["steady"] = beside(tuned.beside_steady);
      json["neighbour"]["cool"] = beside(tuned.beside_cool);
    }
  }
  json.update({{"cublaslt", json_of(tuned.cublaslt, operations)},
               {"seconds", tuned.seconds},
               {"best", best == nullptr ? Json() : Json(best->name)},
               {"chosen", chosen == nullptr ? Json() : Json(chosen->name)},
               {"configurations", tried}});
  return json;
}

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  const std::string unfinished = path + ".part";
  std::ofstream out(unfinished);
  out << text;
  out.close();
  if (!out || std::rename(unfinished.c_str(), path.c_str()) != 0)
    throw Error("cannot write " + path + ": give a file in a folder that can be written");
}

const Tried* best_choice(const Tuned& tuned) {
  const auto counts = [](const Tried& tried) {
    return tried.trouble.empty() && tried.steady.ratio > 0 && !is_void_steady(tried);
  };
  const Tried* const present = chosen_of(tuned);
  if (present == nullptr || !counts(*present)) return nullptr;
  const Tried* best = present;
  for (const Tried& tried : tuned.tried) {
    const double noise = std::max(tried.steady.spread, present->steady.spread);
    if (counts(tried) && tried.steady.ratio > best->steady.ratio &&
        tried.steady.ratio - present->steady.ratio > noise)
      best = &tried;
  }
  return best;
}

void put_choice(Json& table, const Tuned& tuned) {
  const Shape& shape = tuned.shape;
  const bool plain = !is_pitched(shape) && shape.a_major == Major::k && shape.b_major == Major::k &&
                     shape.element == GemmElement::bf16;
  const Tried* const best = plain ? best_choice(tuned) : nullptr;
  if (best == nullptr) return;
  const auto tflops = [&](const DuelScore& score) {
    if (score.ratio <= 0 || is_void(score)) return std::string("-");
    return fmt::format("{:.1f}", operations_of(shape) * 1e-3 / score.ours_ns);
  };
  const Tried& present = *chosen_of(tuned);
  const std::string change =
      best == &present
          ? "kept"
          : fmt::format("sustained {:.1f} % over {}",
                        100 * (best->steady.ratio / present.steady.ratio - 1), present.name);
  const Json line = {{"m", shape.m},
                     {"n", shape.n},
                     {"k", shape.k},
                     {"configuration", best->name},
                     {"note", fmt::format("TFLOP/s sustained {}, cool {}; {}", tflops(best->steady),
                                          tflops(best->cool), change)}};
  for (Json& choice : table.at("choices")) {
    if (choice.at("m") != shape.m || choice.at("n") != shape.n || choice.at("k") != shape.k)
      continue;
    choice = line;
    return;
  }
  table.at("choices").push_back(line);
}

std::string table_text(const Json& table) {
  std::string text = "{\n";
  for (const auto& [key, value] : table.items())
    if (key != "choices") text += fmt::format("\"{}\":{},\n", key, value.dump());
  text += "\"choices\":[";
  std::string_view separator = "\n";
  for (const Json& choice : table.at("choices")) {
    text += fmt::format("{}{}", separator, choice.dump());
    separator = ",\n";
  }
  return text + "\n]\n}\n";
}

void print(const Tuned& tuned) {
  const double operations = operations_of(tuned.shape) * 1e-3;
  fmt::print("{}: cuBLASLt's heuristic {} at work and {} rested, of {}; {:.1f} s\n",
             name_of(tuned.shape), tuned.cublaslt.at_work, tuned.cublaslt.rested,
             tuned.cublaslt.all.size(), tuned.seconds);
  std::vector<const Tried*> order;
  for (const Tried& tried : tuned.tried)
    if (!tried.trouble.empty())
      fmt::print("  {:<44} {}\n", tried.name, tried.trouble);
    else if (tried.steady.ratio > 0)
      order.push_back(&tried);
  std::sort(order.begin(), order.end(), [](const Tried* left, const Tried* right) {
    return left->steady.ratio > right->steady.ratio;
  });
  for (const Tried* tried : order) {
    fmt::print(" {}{:<40}", tried->chosen ? '*' : ' ', tried->name);
    print("steady", tried->steady, operations);
    if (tried->cool.ratio > 0) {
      fmt::print("\n {:<41}", "");
      print("cool", tried->cool, operations);
    }
    print("ours", tried->ours);
    print("theirs", tried->theirs);
    fmt::print("\n");
  }
  if (tuned.beside_steady.ratio > 0)
    fmt::print("  rate over that of {}: steady {:.4f}, drift {:+.4f}; cool {:.4f}, drift {:+.4f}\n",
               name_of(neighbour_of(tuned.shape)), tuned.beside_steady.ratio,
               tuned.beside_steady.drift, tuned.beside_cool.ratio, tuned.beside_cool.drift);
  std::fflush(stdout);
}

}  // namespace tidemark
