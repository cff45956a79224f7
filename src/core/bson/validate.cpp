#include "holdfast/bson/validate.hpp"

#include "core/bson/quote.hpp"
#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace holdfast::bson {

namespace {

/// One run over a document. Structure is checked by the same steps that every reader takes, so what
/// passes here reads well everywhere.
class validator {
public:
    validator(const std::uint8_t* begin, const validation& what) noexcept
        : begin_{begin}, what_{what}
    {
    }

    /// True if all is well; otherwise fault() has the story.
    bool check(view document, int depth)
    {
        if (depth > what_.depth)
            return fail(document.data(), errc::too_deep,
                        "nested deeper than " + std::to_string(what_.depth) + " documents");
        for (const element& e : document) {
            if (e.malformed()) [[unlikely]]
                return fail(e.data(), errc::malformed, e.fault());
            if (what_.utf8 && !is_utf8(e.key())) [[unlikely]]
                return fail(e.data(), errc::invalid_utf8, "the key is not UTF-8");
            if (!check_value(e, depth)) [[unlikely]]
                return false;
        }
        return true;
    }

    error fault() && { return *std::move(fault_); }

private:
    bool check_value(const element& e, int depth)
    {
        switch (e.type()) {
        case type::string:
        case type::code:
        case type::symbol:
            return check_text(e, e.as_string());
        case type::document:
        case type::array:
            return check(e.as_document(), depth + 1);
        case type::boolean:
            return e.value_bytes()[0] <= 1 ||
                   fail(e, errc::malformed,
                        "a boolean is 0 or 1, found " + std::to_string(e.value_bytes()[0]));
        case type::binary:
            return e.as_binary().subtype != binary_subtype::binary_old || check_old_binary(e);
        case type::regex:
            return check_text(e, e.as_regex().pattern) && check_text(e, e.as_regex().options);
        case type::db_pointer:
            return check_db_pointer(e);
        case type::code_with_scope:
            return check_code_with_scope(e, depth);
        case type::invalid:
        case type::double_:
        case type::undefined:
        case type::object_id:
        case type::datetime:
        case type::null:
        case type::int32:
        case type::timestamp:
        case type::int64:
        case type::decimal128:
        case type::min_key:
        case type::max_key:
            return true;
        }
        return true;
    }

    bool check_text(const element& e, std::string_view text)
    {
        return !what_.utf8 || is_utf8(text) || fail(e, errc::invalid_utf8, "the text is not UTF-8");
    }

    bool check_old_binary(const element& e)
    {
        const auto read = reading::bytes(e);
        return read || fail(e, errc::malformed, "an old binary whose two lengths disagree");
    }

    bool check_db_pointer(const element& e)
    {
        const auto read = e.as_db_pointer();
        if (!read)
            return fail(e, errc::malformed, "a DBPointer without a terminated name");
        return check_text(e, read->collection);
    }

    bool check_code_with_scope(const element& e, int depth)
    {
        const auto read = e.as_code_with_scope();
        if (!read)
            return fail(e, errc::malformed, read.error().message());
        return check_text(e, read->source) && check(read->scope, depth + 1);
    }

    bool fail(const element& e, errc what, std::string why)
    {
        return fail(e.data(), what, quote(e.key()) + ": " + std::move(why));
    }

    bool fail(const std::uint8_t* at, errc what, std::string why)
    {
        const std::string offset = std::to_string(at - begin_);
        fault_ = error{what, "invalid BSON at offset " + offset + ": " + std::move(why)}
                     .with_context("offset", offset);
        return false;
    }

    const std::uint8_t* begin_;
    const validation& what_;
    std::optional<error> fault_;
};

}  // namespace

result<view> validate(std::span<const std::uint8_t> bytes, validation what)
{
    if (bytes.size() > what.size) {
        return error{errc::too_large, "a document of " + std::to_string(bytes.size()) +
                                          " bytes, the limit is " + std::to_string(what.size)};
    }
    auto document = view::parse(bytes);
    if (!document)
        return document;
    // Deeper than max_depth is never followed: each level takes a frame of the stack.
    what.depth = std::min(what.depth, max_depth);
    validator run{bytes.data(), what};
    if (!run.check(*document, 1))
        return std::move(run).fault();
    return document;
}

}  // namespace holdfast::bson
