#include "holdfast/mongo/error.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "core/mongo/retry/applied.hpp"
#include "core/pool/errc.hpp"
#include "holdfast/bson/errc.hpp"
#include "runtime/errc.hpp"

#include <charconv>

namespace holdfast::mongo {
namespace {

error_kind kind_of_client_error(core::mongo::errc what, const error& why) noexcept
{
    using enum core::mongo::errc;
    switch (what) {
    case malformed_message:
    case unsupported_message:
    case checksum_mismatch:
    case compression_failed:
    case hello_failed:
    case primary_deposed:
        return error_kind::network;
    case message_too_large:  // theirs, if we had sent something before
        return !why.history().empty() && why.history().back().phase != dispatch_phase::not_sent
                   ? error_kind::network
                   : error_kind::client;
    case invalid_credential:
    case authentication_failed:
    case untrusted_server:
        return error_kind::authentication;
    case invalid_metadata:
    case crypto_unavailable:
    case invalid_connection_string:
    case invalid_option:
    case invalid_address:
        return error_kind::client;
    case invalid_dns_answer:
    case incompatible_server:
    case no_server:
        return error_kind::selection;
    case incomplete_reply:
        return error_kind::server;
    case command_failed:  // with a code it was the server who refused
        return why.context("code").empty() ? error_kind::client : error_kind::server;
    case operation_timed_out:
        return error_kind::timeout;
    }
    return error_kind::client;
}

error_kind kind_of_runtime_error(runtime::errc what) noexcept
{
    using enum runtime::errc;
    switch (what) {
    case name_not_found:
    case name_lookup_failed:
    case connect_failed:
    case connect_timed_out:
    case tls_failed:
    case certificate_rejected:
    case listen_failed:
        return error_kind::network;
    case invalid_tls_options:
    case not_available:
        return error_kind::client;
    case cancelled:
        return error_kind::cancelled;
    }
    return error_kind::network;
}

/// The server's number in a text, as errors of handshakes and logins carry it.
std::optional<std::int32_t> number_in(std::string_view text) noexcept
{
    std::int32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} ? std::optional{number} : std::nullopt;
}

/// A reply that says: the command was carried out, but not as safely as it should be.
bool was_carried_out(const server_failure& refused) noexcept
{
    return refused.reply.find("writeConcernError").type() == bson::type::document &&
           !refused.reply.find("errmsg");
}

/// Without a history only the code is known: a connection that broke while it was used.
bool broke_in_use(const error& why) noexcept
{
    const auto& made_by = why.code().category();
    return kind_of(why) == error_kind::network && made_by != runtime::category() &&
           made_by != core::pool_category() &&
           why.code() != error_code{core::mongo::errc::hello_failed};
}

}  // namespace

error_kind kind_of(const error& why) noexcept
{
    if (const write_failure* const failed = write_failure_of(why))
        return failed->reply.empty() ? error_kind::bulk_write : error_kind::write;
    const error_code code = why.code();
    const auto& made_by = code.category();
    if (made_by == core::mongo::server_category()) {
        const server_failure* const refused = server_failure_of(why);
        return refused != nullptr && was_carried_out(*refused) ? error_kind::write
                                                               : error_kind::server;
    }
    if (made_by == core::mongo::category())
        return kind_of_client_error(static_cast<core::mongo::errc>(code.value()), why);
    if (made_by == runtime::category())
        return kind_of_runtime_error(static_cast<runtime::errc>(code.value()));
    if (code == core::pool_errc::timed_out)
        return error_kind::timeout;
    if (made_by == bson::category())
        return error_kind::client;
    if (code == boost::system::errc::operation_canceled)
        return error_kind::cancelled;
    return error_kind::network;  // the system's own words for a connection that broke
}

std::string_view name_of(error_kind kind) noexcept
{
    switch (kind) {
    case error_kind::network:
        return "network";
    case error_kind::server:
        return "server";
    case error_kind::write:
        return "write";
    case error_kind::bulk_write:
        return "bulk write";
    case error_kind::selection:
        return "selection";
    case error_kind::timeout:
        return "timeout";
    case error_kind::authentication:
        return "authentication";
    case error_kind::cancelled:
        return "cancelled";
    case error_kind::client:
        return "client";
    }
    return "unknown";
}

std::optional<std::int32_t> server_code(const error& why) noexcept
{
    if (why.code().category() == core::mongo::server_category())
        return why.code().value();
    if (const write_failure* const failed = write_failure_of(why)) {
        if (!failed->write_errors.empty())
            return failed->write_errors.front().code;
        if (!failed->write_concern_errors.empty())
            return failed->write_concern_errors.front().code;
        return failed->ended_by ? server_code(*failed->ended_by) : std::nullopt;
    }
    if (why.code().category() == core::mongo::category())
        return number_in(why.context("code"));
    return std::nullopt;
}

std::string_view server_code_name(const error& why) noexcept
{
    if (const std::string_view name = why.context("codeName"); !name.empty())
        return name;
    const write_failure* const failed = write_failure_of(why);
    if (failed == nullptr)
        return {};
    if (failed->write_errors.empty() && !failed->write_concern_errors.empty())
        return failed->write_concern_errors.front().code_name;
    return failed->write_errors.empty() && failed->ended_by ? server_code_name(*failed->ended_by)
                                                            : std::string_view{};
}

/// Yes, unless something proves the contrary: see core/mongo/retry/applied.hpp. The last attempt of
/// a history has the sum of all.
bool may_have_been_applied(const error& why) noexcept
{
    if (const write_failure* const failed = write_failure_of(why)) {
        if (failed->partly_done)
            return true;
        // A single write that was refused is not in doubt; one that is not safe enough was done.
        const bool refused = !failed->write_errors.empty();
        if (refused && !failed->reply.empty())
            return false;
        if (!failed->write_concern_errors.empty())
            return true;
        if (failed->ended_by)
            return may_have_been_applied(*failed->ended_by);
        if (refused)
            return false;
    }
    if (const server_failure* const refused = server_failure_of(why);
        refused != nullptr && was_carried_out(*refused))
        return true;
    if (!why.history().empty())
        return why.history().back().possibly_applied;
    if (why.code().category() == core::mongo::server_category())
        return core::mongo::possibly_applied_after_reply(false, why.code(), why.labels());
    return broke_in_use(why);
}

const server_failure* server_failure_of(const error& why) noexcept
{
    return dynamic_cast<const server_failure*>(why.detail());
}

const write_failure* write_failure_of(const error& why) noexcept
{
    return dynamic_cast<const write_failure*>(why.detail());
}

}  // namespace holdfast::mongo
