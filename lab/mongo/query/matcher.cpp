#include "lab/mongo/query/matcher.hpp"

#include "lab/mongo/query/evaluate.hpp"
#include "lab/mongo/query/parse.hpp"

#include <utility>

namespace holdfast::lab {

using bson::type;

struct matcher::compiled {
    bson::document filter;  // what the nodes point into
    std::optional<collation> by;
    std::optional<expression_context> context;
    filter::node root;
    std::optional<bson::document> equalities;  // nothing: the filter is nothing else
    std::size_t sleeps_ms = 0;
};

namespace {

/// Only {field: value}, as nearly all filters are.
bool is_plain(bson::view filter)
{
    for (const bson::element& e : filter) {
        if (e.key().starts_with('$') || e.type() == type::regex || filter::is_operations(e))
            return false;
    }
    return true;
}

/// $expr can stand anywhere; only then the context is worth a copy.
bool uses_context(bson::view filter, int depth)
{
    for (const bson::element& e : filter) {
        if (e.key() == "$expr")
            return true;
        const bool nested = e.type() == type::document || e.type() == type::array;
        if (nested && depth < filter::deepest_filter && uses_context(e.as_document(), depth + 1))
            return true;
    }
    return false;
}

void collect(const filter::node& from, bson::builder& out)
{
    using filter::op;
    if (from.negated)
        return;
    if (from.what == op::equal)
        out.copy(from.path, from.operand);
    else if (from.what == op::one_of && from.more->patterns.empty() &&
             from.more->values.size() == 1)
        out.copy(from.path, from.more->values.front());
    else if (from.what == op::all_of || (from.what == op::any_of && from.children.size() == 1))
        for (const filter::node& child : from.children)
            collect(child, out);
}

bson::document equalities_of(const filter::node& root)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    collect(root, out);
    if (!out.finish())
        return {};
    return bson::document::adopt(std::move(bytes));
}

}  // namespace

result<matcher> matcher::compile(bson::view filter, const std::optional<collation>& by,
                                 const expression_context& context)
{
    auto made = std::make_unique<compiled>();
    made->filter = bson::document{filter};
    made->by = by;
    const bool plain = is_plain(made->filter);
    if (!plain && uses_context(made->filter, 0))
        made->context = context;
    filter::parser parser{made->by, made->context ? *made->context : context};
    auto root = parser.filter(made->filter);
    if (!root)
        return std::move(root).error();
    made->root = std::move(*root);
    made->sleeps_ms = parser.sleeps_ms();
    if (!plain)
        made->equalities = equalities_of(made->root);
    return matcher{std::move(made)};
}

matcher::matcher(std::unique_ptr<compiled> made) : compiled_{std::move(made)} {}
matcher::matcher(matcher&&) noexcept = default;
matcher& matcher::operator=(matcher&&) noexcept = default;
matcher::~matcher() = default;

result<bool> matcher::matches(bson::view document, match_details* details) const
{
    filter::evaluation ask{compiled_->by ? &*compiled_->by : nullptr};
    const bool yes = ask.matches(compiled_->root, document, details);
    if (ask.fault())
        return *ask.fault();
    return yes;
}

const bson::document& matcher::equalities() const
{
    return compiled_->equalities ? *compiled_->equalities : compiled_->filter;
}

bson::element matcher::equality(std::string_view path) const
{
    const bson::element found = equalities().find(path);
    switch (found.type()) {
    case type::invalid:
    case type::null:
    case type::undefined:
    case type::array:
    case type::regex:
        return {};
    case type::string:
    case type::symbol:
    case type::document:
    case type::code_with_scope:
        return compiled_->by ? bson::element{} : found;
    case type::double_:
    case type::binary:
    case type::object_id:
    case type::boolean:
    case type::datetime:
    case type::db_pointer:
    case type::code:
    case type::int32:
    case type::timestamp:
    case type::int64:
    case type::decimal128:
    case type::max_key:
    case type::min_key:
        return found;
    }
    return {};
}

std::size_t matcher::sleeps_ms() const
{
    return compiled_->sleeps_ms;
}

}  // namespace holdfast::lab
