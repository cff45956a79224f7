#include "holdfast/bson/canonical.hpp"

#include "holdfast/bson/errc.hpp"

#include <string>

namespace holdfast::bson {

namespace {

result<void> rewrite(view source, builder& out, int depth);

result<void> rewrite_value(const element& e, std::string_view key, builder& out, int depth)
{
    const bool nests = e.type() == type::document || e.type() == type::array ||
                       e.type() == type::code_with_scope;
    if (nests && depth == max_depth)
        return error{errc::too_deep,
                     "nested deeper than " + std::to_string(max_depth) + " documents"};
    switch (e.type()) {
    case type::invalid:
        return e.mismatch("an element");
    case type::document: {
        auto nested = out.document(key);
        return rewrite(e.as_document(), nested, depth + 1);
    }
    case type::array: {
        auto nested = out.array(key);
        for (const element& item : e.as_array()) {
            auto done = rewrite_value(item, nested.next_key(), nested.elements(), depth + 1);
            if (!done)
                return done;
        }
        return {};
    }
    case type::regex:
        out.put(key, e.as_regex());
        return {};
    case type::code_with_scope: {
        const auto read = e.as_code_with_scope();
        if (!read)
            return read.error();
        byte_buffer bytes;
        builder scope{bytes};
        auto done = rewrite(read->scope, scope, depth + 1);
        if (!done)
            return done;
        auto finished = scope.finish();
        if (!finished)
            return std::move(finished).error();
        out.put(key, code_with_scope{read->source, *finished});
        return {};
    }
    default:  // everything else has one form only
        out.copy(key, e);
        return {};
    }
}

result<void> rewrite(view source, builder& out, int depth)
{
    for (const element& e : source) {
        auto done = rewrite_value(e, e.key(), out, depth);
        if (!done)
            return done;
    }
    return {};
}

}  // namespace

result<document> canonical(view source)
{
    byte_buffer bytes;
    bytes.reserve(source.size());
    builder out{bytes};
    auto done = rewrite(source, out, 1);
    if (!done)
        return std::move(done).error();
    auto finished = out.finish();
    if (!finished)
        return std::move(finished).error();
    return document::adopt(std::move(bytes));
}

}  // namespace holdfast::bson
