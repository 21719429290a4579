// What a tuning run says of a product: as JSON and as a table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ci/lab/gemm/tune.hpp"

namespace tidemark::kernels {

/// The chip changed more between two runs of the opponent than the figure is worth.
bool is_void(const DuelScore& score);
/// Or the GPU waited for the host in its duel at work.
bool is_void_steady(const Tried& tried);

/// All figures of one product.
nlohmann::ordered_json json_of(const Tuned& tuned);

/// Replaces the file at `path` at once: a reader never sees half of it. No path, no file. Throws
/// Error where it cannot be written.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

/// The table of one product to stdout, best first.
void print(const Tuned& tuned);

}  // namespace tidemark::kernels
