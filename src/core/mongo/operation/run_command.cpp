#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/query.hpp"
#include "core/mongo/operation/space.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "holdfast/mongo/operations.hpp"

#include <utility>

namespace holdfast::core::mongo {
namespace {

using holdfast::mongo::command_kind;

/// A write with {writeConcern: {w: 0}} gets no reply.
bool is_unacknowledged(bson::view body)
{
    const bson::element concern = body.find("writeConcern");
    if (concern.type() != bson::type::document)
        return false;
    const auto w = concern.as_document().find("w").get<std::int64_t>();
    return w && *w == 0;
}

void make_retryable_read(command& made, bson::view body)
{
    made.kind = retry_kind::read;
    made.selects = operation_kind::read;
    made.eligible = is_retryable_read((*body.begin()).key()) && !is_writing_aggregate(body);
}

void make_retryable_write(command& made, bson::view body)
{
    made.kind = retry_kind::write;
    made.acknowledged = !is_unacknowledged(body);
    made.eligible = takes_transaction_number({.name = (*body.begin()).key(),
                                              .touches_many = touches_many(body),
                                              .acknowledged = made.acknowledged},
                                             bulk_write_since);
}

}  // namespace

result<command> run_command_operation::build(const operation_space& in,
                                             const operation_space& client) const
{
    if (body.empty())
        return error{errc::command_failed, "a command needs at least one field: its name"};
    command made;
    made.database = database.empty() ? std::string_view{in.database} : database;
    made.body = command_message{body};
    made.timeout = options.timeout ? options.timeout : in.timeout;
    if (options.kind == command_kind::read) {
        make_retryable_read(made, body);
        made.preference = client.read_preference;
    } else if (options.kind == command_kind::write) {
        make_retryable_write(made, body);
    }
    if (options.read_preference) {
        auto preference = own(*options.read_preference);
        if (!preference)
            return std::move(preference).error();
        made.selects = operation_kind::read;
        made.preference = *std::move(preference);
    }
    return made;
}

result<bson::document> run_command_operation::read(command_outcome outcome, const command&)
{
    return std::move(outcome).to_document();
}

}  // namespace holdfast::core::mongo
