// What a tuning run says of a product: as JSON, as a table, and as a line of the engine's table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ci/lab/gemm/tune.hpp"

namespace tidemark {

/// The chip changed more between two runs of the opponent than the figure is worth.
bool is_void(const DuelScore& score);
/// Or the GPU waited for the host in its duel at work.
bool is_void_steady(const Tried& tried);

/// All figures of one product.
nlohmann::ordered_json json_of(const Tuned& tuned);

/// Replaces the file at `path` at once: a reader never sees half of it. No path, no file. Throws
/// Error where it cannot be written.
void write_file(const std::string& path, const std::string& text);

/// What the engine's table should name for the product: what it names now, unless another
/// configuration's steady ratio is above that one's by more than the larger spread of both. Nullptr
/// where the present one has no steady duel that counts.
const Tried* best_choice(const Tuned& tuned);

/// Replaces or adds the product's choice in `table`, the JSON of
/// kernels/cuda/gemm/tuning/table.json. What is not bf16, K-major and on 16 bytes has none, and
/// without a best_choice() all stays.
void put_choice(nlohmann::ordered_json& table, const Tuned& tuned);

/// `table` in the form of that file: a choice a line.
std::string table_text(const nlohmann::ordered_json& table);

/// The table of one product to stdout, best first.
void print(const Tuned& tuned);

}  // namespace tidemark
