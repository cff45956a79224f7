#include "shell/mongo/execute/command_monitoring.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/message.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"

#include <utility>

namespace holdfast::shell::mongo {
namespace {

/// Sensitive commands, which must not be logged. A hello is one only while it authenticates.
bool is_secret(std::string_view name, bson::view command)
{
    if (core::mongo::may_compress(name))
        return false;
    const bool hello = name == "hello" || name == "isMaster" || name == "ismaster";
    return !hello || command.find("speculativeAuthenticate");
}

/// The command with its document sequences, as a listener expects it: in one document.
bson::document whole(const core::mongo::message& request)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.merge(request.body);
    for (const core::mongo::message_sequence& sequence : request.sequences) {
        auto documents = out.array(sequence.identifier);
        for (const bson::view one : sequence)
            documents.add(one);
    }
    return out.finish() ? bson::document::adopt(std::move(bytes)) : bson::document{request.body};
}

}  // namespace

void command_monitoring::fill(const std::optional<core::mongo::transaction_id>& transaction)
{
    facts_.driver_connection = over_.pool_id;
    facts_.server_connection = over_.description().server_connection_id;
    facts_.service = over_.description().service_id;
    if (transaction)
        facts_.transaction = events::transaction_id{transaction->session, transaction->number};
    began_ = client_.world.steady_now();
}

void command_monitoring::notify_started(std::span<const std::uint8_t> request)
{
    const auto message = core::mongo::parse_message(request);
    const bson::view command = message ? message->body : bson::view{};
    secret_ = is_secret(facts_.command_name, command);
    if (secret_ || !message || message->sequences.empty())
        return client_.events->notify(
            events::command_started{facts_, secret_ ? bson::view{} : command});
    const bson::document all = whole(*message);
    client_.events->notify(events::command_started{facts_, all.view()});
}

void command_monitoring::notify_failed(const error& why)
{
    if (!secret_ || why.code().category() != core::mongo::server_category())
        return client_.events->notify(events::command_failed{facts_, took(), why});
    // The server may have quoted the command.
    error bare{why.code(), std::string{facts_.command_name} + " failed: server message redacted"};
    for (const std::string& label : why.labels())
        bare = std::move(bare).with_label(label);
    if (const std::string_view name = why.context("codeName"); !name.empty())
        bare = std::move(bare).with_context("codeName", std::string{name});
    client_.events->notify(events::command_failed{facts_, took(), bare});
}

void command_monitoring::notify_ended(bson::view reply, const error* why)
{
    // A write that was carried out has succeeded, also if its write concern has failed.
    if (why == nullptr || reply.find("writeConcernError"))
        client_.events->notify(
            events::command_succeeded{facts_, took(), secret_ ? bson::view{} : reply});
    else
        notify_failed(*why);
}

}  // namespace holdfast::shell::mongo
