#include "shell/mongo/execute/attempt_failure.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "core/mongo/retry/reply_failure.hpp"
#include "core/pool/errc.hpp"
#include "shell/mongo/connection/establish.hpp"

#include <charconv>
#include <utility>

namespace holdfast::shell::mongo {

using core::mongo::application_error;
using core::mongo::connection_phase;
using core::mongo::failed_attempt;
using core::mongo::failure_kind;
using core::mongo::failure_origin;

namespace {

/// ReauthenticationRequired: the login of the connection has expired.
constexpr std::int32_t reauthentication_required = 391;
/// IllegalOperation: among others, a txnNumber for a storage engine that cannot remember it.
constexpr std::int32_t illegal_operation = 20;

}  // namespace

bool attempt_failure::is_expired_login() const noexcept
{
    return facts_.origin == failure_origin::server && facts_.code == reauthentication_required;
}

error attempt_failure::labelled(error why, write_facts write) const
{
    if (write.repeatable && core::mongo::driver_adds_label(facts_))
        return std::move(why).with_label(core::mongo::label::retryable_write);
    return why;
}

error attempt_failure::in_reply(client_state& client, const server_attempt& attempt,
                                const failed_attempt& found, bson::view reply, write_facts write)
{
    facts_ = found;
    connection& over = attempt.to();
    if (is_expired_login())
        over.require_login();
    error why = core::mongo::make_server_error(reply);
    if (write.numbered && facts_.code == illegal_operation &&
        why.message().starts_with("Transaction numbers"))
        why = core::mongo::without_retryable_writes(reply);
    why = labelled(std::move(why), write).with_context("server", attempt.on.address().value());
    client.servers->handle(
        application_error{.server = attempt.on.address(),
                          .kind = failure_kind::command,
                          .phase = connection_phase::ready,
                          .generation = over.generation,
                          .max_wire_version = over.description().max_wire_version,
                          .cause = why,
                          .reply = reply,
                          .service_id = over.description().service_id});
    text_ = facts_.message;
    facts_.message = text_;
    return why;
}

error attempt_failure::of_connection(client_state& client, const server_attempt& attempt, error why,
                                     write_facts write)
{
    const connection& over = attempt.to();
    facts_ = failed_attempt{.origin = failure_origin::network,
                            .max_wire_version = over.description().max_wire_version,
                            .sharded = attempt.on.topology().type ==
                                       core::mongo::topology_type::sharded};
    why = labelled(std::move(why), write);
    if (why.code() == boost::system::errc::operation_canceled)
        return why;  // nothing is wrong with the server
    if (why.code() == core::pool_errc::cleared)
        return why;  // the topology knows: it has interrupted the connection
    client.servers->handle(
        application_error{.server = attempt.on.address(),
                          .kind = core::mongo::kind_of_broken_connection(why.code()),
                          .phase = connection_phase::ready,
                          .generation = over.generation,
                          .max_wire_version = over.description().max_wire_version,
                          .cause = why,
                          .service_id = over.description().service_id});
    return why;
}

error attempt_failure::of_deposed_primary(const server_attempt& attempt, error why,
                                          write_facts write)
{
    facts_ = failed_attempt{.origin = failure_origin::network,
                            .max_wire_version = attempt.to().description().max_wire_version};
    return labelled(std::move(why), write);
}

error attempt_failure::of_checkout(const client_state& client, const selected_server& on, error why,
                                   write_facts write)
{
    facts_.sharded = on.topology().type == core::mongo::topology_type::sharded;
    const bool from_pool = why.code().category() == core::pool_category();
    if (why.code() == core::pool_errc::cleared || why.code() == core::pool_errc::closed) {
        facts_.origin = failure_origin::pool_cleared;
    } else if (why.code().category() == core::mongo::category()) {
        // A server that shuts down may report it in the middle of a login, too. Its labels do not
        // count: a reply during the set-up of a connection is no reply to this command.
        std::int32_t code = 0;
        const std::string_view refused = why.context("code");
        const auto read = std::from_chars(refused.data(), refused.data() + refused.size(), code);
        if (read.ec == std::errc{}) {
            facts_.origin = failure_origin::server;
            facts_.code = code;
        }
    } else if (!from_pool && why.code() != runtime::errc::cancelled) {
        if (client.profile.connect_errors_are_overload && !rules_out_overload(why) &&
            why.context("phase") != phase_authentication)
            why = std::move(why)
                      .with_label(core::mongo::label::system_overloaded)
                      .with_label(core::mongo::label::retryable);
        facts_.origin = failure_origin::network;
        facts_.labels = core::mongo::known_labels::of(why);
    }
    return labelled(std::move(why), write);
}

}  // namespace holdfast::shell::mongo
