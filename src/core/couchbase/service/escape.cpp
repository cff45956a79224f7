#include "core/couchbase/service/escape.hpp"

#include "core/uri/percent.hpp"

namespace holdfast::core::couchbase {

std::string quoted_name(std::string_view name)
{
    std::string out{'`'};
    out.reserve(name.size() + 2);
    for (const char c : name)
        out.append(c == '`' ? 2 : 1, c);
    return out += '`';
}

std::string quoted_keyspace(const holdfast::couchbase::index_keyspace& of)
{
    std::string out = quoted_name(of.bucket);
    for (const std::string_view name : {of.scope, of.collection})
        if (!name.empty())
            out.append(".").append(quoted_name(name));
    return out;
}

std::string query_context_of(std::string_view bucket, std::string_view scope)
{
    if (scope.empty())
        return {};
    return "default:" + quoted_name(bucket) + "." + quoted_name(scope);
}

form_text& form_text::add(std::string_view name, std::string_view value)
{
    if (!text_.empty())
        text_ += '&';
    text_.append(uri::percent_encode(name)).append("=").append(uri::percent_encode(value));
    return *this;
}

}  // namespace holdfast::core::couchbase
