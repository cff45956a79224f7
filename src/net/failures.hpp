#pragma once
#include "runtime/world.hpp"

#include <span>
#include <string>

namespace holdfast::net {

/// The errors of connect() and listen(): the same words, whatever a world does while it waits.
/// `tried` are the addresses that were, as people know them, and `last` is why the last one that
/// failed did so, if any did.
error all_failed(const runtime::destination& where, std::span<const std::string> tried,
                 const error_code& last);
error took_too_long(const runtime::destination& where, std::span<const std::string> tried,
                    const error_code& last);
error was_cancelled(const runtime::destination& where);
error not_resolved(const runtime::destination& where, const error& why);

error cannot_listen(const runtime::destination& where, const std::string& cause);

}  // namespace holdfast::net
