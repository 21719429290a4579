// The style and the script of a page, as page.css and page.js hold them, put in by the build.
#pragma once

#include <string_view>

namespace tidemark::reports {

extern const std::string_view kPageStyle, kPageScript;

/// "sha256-...": what a Content-Security-Policy knows them by.
extern const std::string_view kPageStyleHash, kPageScriptHash;

}  // namespace tidemark::reports
