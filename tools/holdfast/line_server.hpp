#pragma once
#include <functional>
#include <string_view>

namespace holdfast::tool {

/// SIGINT and SIGTERM as a file descriptor. Called before there is a second thread, so that no
/// thread takes them instead of us.
int open_signals();

/// Passes lines of standard input on, until one returns false or a signal comes. When the input
/// ends, signals are still waited for.
void serve_lines(int signals, const std::function<bool(std::string_view)>& obey);

}  // namespace holdfast::tool
