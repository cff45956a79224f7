#include "core/couchbase/admin/admin_order.hpp"

#include "core/couchbase/retry/json_text.hpp"

namespace holdfast::core::couchbase {

service_request management(http_method method, std::string path, std::string_view operation)
{
    service_request made;
    made.service = holdfast::couchbase::service_type::management;
    made.method = method;
    made.path = std::move(path);
    made.operation = operation;
    made.idempotent = is_idempotent(management_request{method});
    return made;
}

service_request management(http_method method, std::string path, std::string_view operation,
                           std::string form)
{
    service_request made = management(method, std::move(path), operation);
    made.content_type = form_content;
    made.body = std::move(form);
    return made;
}

std::string text_in(const boost::json::value& object, std::string_view name)
{
    const boost::json::string* const found = find_string(object, name);
    return found != nullptr ? std::string{found->data(), found->size()} : std::string{};
}

std::int64_t integer_in(const boost::json::value& object, std::string_view name)
{
    const std::int64_t* const found = find_integer(object, name);
    return found != nullptr ? *found : 0;
}

bool flag_in(const boost::json::value& object, std::string_view name)
{
    const boost::json::object* const members = object.if_object();
    const boost::json::value* const found = members != nullptr ? members->if_contains(name)
                                                               : nullptr;
    return found != nullptr && found->is_bool() && found->get_bool();
}

error unexpected_answer(std::string_view expected)
{
    return error{errc::decoding_failure, "the answer is not " + std::string{expected}};
}

result<void> check_name(std::string_view name, std::string_view what)
{
    constexpr std::size_t longest = 1'024;
    if (name.empty())
        return error{errc::invalid_argument,
                     "the name of a " + std::string{what} + " cannot be empty"};
    if (name.size() > longest)
        return error{errc::invalid_argument,
                     "the name of a " + std::string{what} + " has at most 1024 bytes"};
    return {};
}

}  // namespace holdfast::core::couchbase
