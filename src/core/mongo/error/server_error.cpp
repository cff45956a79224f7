#include "core/mongo/error/server_error.hpp"

#include "core/mongo/error/server_text.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/mongo/error.hpp"

#include <algorithm>
#include <array>
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
        const std::string_view name = known_code_name(value);
        return name.empty() ? "server error " + std::to_string(value) : std::string{name};
    }
};

struct code_name {
    std::int32_t code;
    std::string_view name;
};

constexpr std::array code_names = std::to_array<code_name>({
    {2, "BadValue"},
    {6, "HostUnreachable"},
    {7, "HostNotFound"},
    {8, "UnknownError"},
    {9, "FailedToParse"},
    {11, "UserNotFound"},
    {13, "Unauthorized"},
    {14, "TypeMismatch"},
    {18, "AuthenticationFailed"},
    {20, "IllegalOperation"},
    {26, "NamespaceNotFound"},
    {27, "IndexNotFound"},
    {43, "CursorNotFound"},
    {48, "NamespaceExists"},
    {50, "MaxTimeMSExpired"},
    {59, "CommandNotFound"},
    {61, "ShardKeyNotFound"},
    {64, "WriteConcernFailed"},
    {66, "ImmutableField"},
    {67, "CannotCreateIndex"},
    {68, "IndexAlreadyExists"},
    {72, "InvalidOptions"},
    {73, "InvalidNamespace"},
    {79, "UnknownReplWriteConcern"},
    {85, "IndexOptionsConflict"},
    {86, "IndexKeySpecsConflict"},
    {89, "NetworkTimeout"},
    {91, "ShutdownInProgress"},
    {100, "UnsatisfiableWriteConcern"},
    {112, "WriteConflict"},
    {115, "CommandNotSupported"},
    {121, "DocumentValidationFailure"},
    {133, "FailedToSatisfyReadPreference"},
    {166, "CommandNotSupportedOnView"},
    {189, "PrimarySteppedDown"},
    {251, "NoSuchTransaction"},
    {262, "ExceededTimeLimit"},
    {292, "QueryExceededMemoryLimitNoDiskUseAllowed"},
    {391, "ReauthenticationRequired"},
    {10107, "NotWritablePrimary"},
    {10334, "BSONObjectTooLarge"},
    {11000, "DuplicateKey"},
    {11600, "InterruptedAtShutdown"},
    {11601, "Interrupted"},
    {11602, "InterruptedDueToReplStateChange"},
    {13435, "NotPrimaryNoSecondaryOk"},
    {13436, "NotPrimaryOrSecondary"},
});

constexpr std::int32_t namespace_not_found = 26;
constexpr std::int32_t unknown_error = 8;  // the server's own code for an error without one

std::string_view text_in(bson::view from, std::string_view name)
{
    const bson::element found = from.find(name);
    return found.type() == bson::type::string ? found.as_string() : std::string_view{};
}

/// A copy for an error to keep, with each text of its top level cut.
bson::document limited_reply(bson::view reply)
{
    if (reply.bytes().size() <= max_server_text) [[likely]]
        return bson::document{reply};
    bson::byte_buffer bytes;
    {
        bson::builder out{bytes};
        for (const bson::element& e : reply) {
            if (e.type() == bson::type::string)
                out.add(e.key(), limited_text(e.as_string()));
            else
                out.add(e.key(), e);
        }
    }
    return bson::document::adopt(std::move(bytes));
}

}  // namespace

const boost::system::error_category& server_category() noexcept
{
    static const server_error_category instance;
    return instance;
}

std::string_view known_code_name(std::int32_t code) noexcept
{
    const auto found = std::ranges::find(code_names, code, &code_name::code);
    return found == code_names.end() ? std::string_view{} : found->name;
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
        std::make_shared<const holdfast::mongo::server_failure>(limited_reply(reply)));
}

error make_server_error(bson::view reply)
{
    const bson::element concern = reply.find("writeConcernError");
    const bool by_concern = concern.type() == bson::type::document && !reply.find("errmsg");
    const bson::view from = by_concern ? concern.as_document() : reply;
    const auto number = from.find("code").get<std::int32_t>();
    const std::string_view text = text_in(from, "errmsg");
    error made{error_code{number ? *number : unknown_error, server_category()},
               text.empty() ? std::string{"the server gives no reason"} : limited_text(text)};
    if (const std::string_view name = text_in(from, "codeName"); !name.empty())
        made = std::move(made).with_context("codeName", limited_text(name));
    made = std::move(made).with_detail(
        std::make_shared<const holdfast::mongo::server_failure>(limited_reply(reply)));
    if (by_concern)
        made = with_server_labels(std::move(made), from);
    return with_server_labels(std::move(made), reply);
}

bool is_namespace_not_found(const error& from) noexcept
{
    return from.code() == error_code{namespace_not_found, server_category()};
}

}  // namespace holdfast::core::mongo
