// Keeps a Markdown page within its size.
#include "reports/render/markdown.hpp"

#include <fmt/format.h>

#include "reports/render/page.hpp"

namespace tidemark::reports {

void put_block(MarkdownPage& page, std::string_view block) {
  if (page.text.size() + block.size() > page.most) {
    ++page.left_out;
    return;
  }
  page.text += block;
}

std::string finished(const MarkdownPage& page, std::string_view command) {
  if (page.left_out == 0) return page.text;
  return page.text +
         fmt::format("\n*{} found no room here; `{} --all` and `--html` show everything.*\n",
                     plural(page.left_out, "block"), command);
}

}  // namespace tidemark::reports
