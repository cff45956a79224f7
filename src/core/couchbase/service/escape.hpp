#pragma once
#include "holdfast/couchbase/admin_options.hpp"

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core::couchbase {

/// A name in a statement: `travel-sample`. A back-tick in it is doubled.
std::string quoted_name(std::string_view name);

/// `bucket`, or `bucket`.`scope`.`collection`.
std::string quoted_keyspace(const holdfast::couchbase::index_keyspace& of);

/// "default:`bucket`.`scope`": where the names of a statement are looked up. Empty without a scope.
std::string query_context_of(std::string_view bucket, std::string_view scope);

/// The body of a form, or a query string: name=value&name=value. Names and values are escaped, as
/// core::uri::percent_encode() does it for a segment of a path.
class form_text {
public:
    form_text& add(std::string_view name, std::string_view value);
    form_text& add(std::string_view name, const char* value)
    {
        return add(name, std::string_view{value});
    }
    template <std::integral Number>
    form_text& add(std::string_view name, Number value)
    {
        if constexpr (std::same_as<Number, bool>)
            return add(name, value ? "true" : "false");
        else
            return add(name, std::to_string(value));
    }

    bool empty() const noexcept { return text_.empty(); }
    const std::string& text() const& noexcept { return text_; }
    std::string&& text() && noexcept { return std::move(text_); }

private:
    std::string text_;
};

}  // namespace holdfast::core::couchbase
