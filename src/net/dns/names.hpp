#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net {

/// The addresses of a host that need no name server: it is one, with or without brackets, or it is
/// "localhost", which is this machine whatever a name server reports (RFC 6761).
std::optional<std::vector<std::string>> known_addresses(std::string_view host);

/// Whether a name server can be asked for it at all. What follows from yes is little: the name is
/// not empty, not too long, and holds no blank or control character.
bool can_be_asked_for(std::string_view name) noexcept;

/// Whether an answer may name this as a host: letters, digits, hyphens and underscores between
/// dots, of which none may be left over.
bool is_host_name(std::string_view name) noexcept;

std::string in_lower_case(std::string_view name);

}  // namespace holdfast::net
