#include "tree.hpp"

#include "holdfast/error.hpp"

namespace holdfast::bench {

namespace {

void fill(node& n, const bson::element& e)
{
    using bson::type;
    switch (e.type()) {
    case type::double_:
        n.real = e.as_double();
        break;
    case type::string:
    case type::code:
    case type::symbol:
        n.text = e.as_string();
        break;
    case type::document:
    case type::array:
        n.children = to_tree(e.as_document());
        break;
    case type::binary:
        n.text.assign(e.as_binary().bytes.begin(), e.as_binary().bytes.end());
        n.subtype = e.as_binary().subtype;
        break;
    case type::object_id:
        n.id = e.as_object_id();
        break;
    case type::boolean:
        n.integer = e.as_bool() ? 1 : 0;
        break;
    case type::datetime:
        n.integer = e.as_datetime().time_since_epoch().count();
        break;
    case type::regex:
        n.text = e.as_regex().pattern;
        n.options = e.as_regex().options;
        break;
    case type::db_pointer:
        n.text = e.as_db_pointer().value().collection;
        n.id = e.as_db_pointer().value().id;
        break;
    case type::code_with_scope:
        n.text = e.as_code_with_scope().value().source;
        n.children = to_tree(e.as_code_with_scope().value().scope);
        break;
    case type::int32:
        n.integer = e.as_int32();
        break;
    case type::timestamp:
        n.time = e.as_timestamp();
        break;
    case type::int64:
        n.integer = e.as_int64();
        break;
    case type::decimal128:
        n.decimal = e.as_decimal128();
        break;
    case type::invalid:
        throw failure{e.mismatch("an element")};
    case type::undefined:
    case type::null:
    case type::min_key:
    case type::max_key:
        break;
    }
}

}  // namespace

std::vector<node> to_tree(bson::view document)
{
    std::vector<node> nodes;
    for (const bson::element& e : document) {
        node& n = nodes.emplace_back();
        n.type = e.type();
        n.key = e.key();
        fill(n, e);
    }
    return nodes;
}

}  // namespace holdfast::bench
