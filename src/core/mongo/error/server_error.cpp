#include "core/mongo/error/server_error.hpp"

#include "holdfast/mongo/error.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::core::mongo {
namespace {

class server_error_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "mongo.server"; }
    std::string message(int value) const override
    {
        return "server error " + std::to_string(value);
    }
};

constexpr std::int32_t unknown_error = 8;  // the server's own code for an error without one

std::string_view text_in(bson::view from, std::string_view name)
{
    const bson::element found = from.find(name);
    return found.type() == bson::type::string ? found.as_string() : std::string_view{};
}

error with_labels(error to, bson::view from)
{
    const bson::element labels = from.find("errorLabels");
    if (labels.type() != bson::type::array)
        return to;
    for (const bson::element& label : labels.as_array()) {
        if (label.type() == bson::type::string)
            to = std::move(to).with_label(label.as_string());
    }
    return to;
}

}  // namespace

const boost::system::error_category& server_category() noexcept
{
    static const server_error_category instance;
    return instance;
}

error without_retryable_writes(bson::view reply)
{
    const error from_server = make_server_error(reply);
    error better{from_server.code(),
                 "This MongoDB deployment does not support retryable writes. Please add "
                 "retryWrites=false to your connection string."};
    for (const std::string& label : from_server.labels())
        better = std::move(better).with_label(label);
    for (const context_entry& fact : from_server.context())
        better = std::move(better).with_context(fact.name, fact.value);
    return std::move(better).with_detail(
        std::make_shared<const holdfast::mongo::server_failure>(reply));
}

error make_server_error(bson::view reply)
{
    const bson::element concern = reply.find("writeConcernError");
    const bool by_concern = concern.type() == bson::type::document && !reply.find("errmsg");
    const bson::view from = by_concern ? concern.as_document() : reply;
    const auto number = from.find("code").get<std::int32_t>();
    const std::string_view text = text_in(from, "errmsg");
    error made{error_code{number ? *number : unknown_error, server_category()},
               text.empty() ? std::string{"the server gives no reason"} : std::string{text}};
    if (const std::string_view name = text_in(from, "codeName"); !name.empty())
        made = std::move(made).with_context("codeName", std::string{name});
    made = std::move(made).with_detail(
        std::make_shared<const holdfast::mongo::server_failure>(reply));
    if (by_concern)
        made = with_labels(std::move(made), from);
    return with_labels(std::move(made), reply);
}

}  // namespace holdfast::core::mongo
