#include "holdfast/bson/read_into.hpp"

#include "core/bson/quote.hpp"

#include <string>

namespace holdfast::bson::reading {

namespace {

/// "key: expected this, found that", with the three as context.
error unexpected(const element& e, errc what, std::string expected, std::string found)
{
    const std::string path{e.key()};
    return error{what, path + ": expected " + expected + ", found " + found}
        .with_context("path", path)
        .with_context("expected", std::move(expected))
        .with_context("found", std::move(found));
}

error at_key(const element& e, errc what, std::string_view why)
{
    const std::string path{e.key()};
    return error{what, path + ": " + std::string{why}}.with_context("path", path);
}

}  // namespace

error nested_too_deeply(const element& e)
{
    return at_key(e, errc::too_deep,
                  "nested more than " + std::to_string(max_depth) + " levels deep");
}

error unknown_field(const element& e)
{
    return at_key(e, errc::unknown_field, "unknown field")
        .with_context("found", std::string{name_of(e.type())});
}

error unknown_enumerator(const element& e, std::string_view allowed)
{
    return unexpected(e, errc::invalid_value, "one of " + std::string{allowed},
                      quote(e.as_string()));
}

error wrong_subtype(const element& e)
{
    return unexpected(e, errc::wrong_type, "binary of subtype 0",
                      "subtype " + std::to_string(static_cast<int>(e.as_binary().subtype)));
}

error too_many_alternatives(const element& e)
{
    return at_key(e, errc::too_large, "too many alternatives of nested variants to try");
}

error wrong_count(std::string_view of, std::size_t expected, std::size_t found)
{
    const std::string wanted = std::to_string(expected) + " " + std::string{of};
    return error{errc::wrong_type, "expected " + wanted + ", found " + std::to_string(found)}
        .with_context("expected", wanted)
        .with_context("found", std::to_string(found));
}

bool fail_at(const element& e, error why, state& at)
{
    const bool nameless = why.context("path").empty() && !e.malformed() && !e.key().empty();
    return at.fail(nameless ? inside(std::move(why), e.key()) : std::move(why));
}

}  // namespace holdfast::bson::reading
