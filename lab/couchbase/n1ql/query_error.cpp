#include "lab/couchbase/n1ql/query_error.hpp"

#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

class category_of_query final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "couchbase query"; }
    std::string message(int value) const override { return "query error " + std::to_string(value); }
};

const boost::system::error_category& query_category() noexcept
{
    static const category_of_query instance;
    return instance;
}

constexpr std::string_view reason_entry = "reason";

}  // namespace

error refuse(std::int32_t code, std::string message)
{
    return error{error_code{code, query_category()}, std::move(message)};
}

error refuse(query_code code, std::string message)
{
    return refuse(static_cast<std::int32_t>(code), std::move(message));
}

error refuse_change(dml_reason reason, std::string message)
{
    return refuse(query_code::dml, "DML Error, possible causes include concurrent modification. " +
                                       std::move(message))
        .with_context(reason_entry, std::to_string(static_cast<std::int32_t>(reason)));
}

std::int32_t code_of(const error& of) noexcept
{
    const error_code code = of.code();
    return code.category() == query_category() ? code.value()
                                               : static_cast<std::int32_t>(query_code::internal);
}

dml_reason reason_of(const error& of)
{
    std::int32_t number = 0;
    const std::string_view text = of.context(reason_entry);
    std::from_chars(text.data(), text.data() + text.size(), number);
    return static_cast<dml_reason>(number);
}

bool is_worth_a_retry(std::int32_t code) noexcept
{
    const auto known = static_cast<query_code>(code);
    return known == query_code::timeout || known == query_code::bulk_get ||
           known == query_code::index_not_found;
}

}  // namespace holdfast::lab::couchbase::n1ql
