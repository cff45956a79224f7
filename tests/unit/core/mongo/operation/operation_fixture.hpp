#pragma once
#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/id_source.hpp"
#include "core/mongo/operation/query.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/error.hpp"
#include "holdfast/mongo/operations.hpp"
#include "support/json.hpp"

#include <string>
#include <string_view>

/// Commands and replies of tests are written in Extended JSON.
namespace holdfast::core::mongo {

inline bson::array array_of(std::string_view text)
{
    return bson::array_from_json(text).value();
}

/// With all types, so that a 64-bit number does not pass for a smaller one.
inline std::string shown(bson::view document)
{
    return bson::to_json(document, bson::json_mode::canonical).value();
}

inline std::string shown(const result<command>& made)
{
    return made ? shown(made->body) : "error: " + made.error().message();
}

inline std::string shown(const result<query>& made)
{
    return made ? shown(made->first.body) : "error: " + made.error().message();
}

inline std::string normal(std::string_view text)
{
    return shown(json(text));
}

inline operation_space a_space()
{
    operation_space space;
    space.database = "sea";
    space.collection = "coll";
    return space;
}

/// The command of an operation.
template <class Operation>
result<command> built(const operation_space& in, const Operation& operation)
{
    return operation.build(in);
}

/// The same for an operation that may need an id for a document: it is this one.
template <class Operation>
result<command> built(const operation_space& in, const Operation& operation, bson::object_id fresh)
{
    struct one_id final : id_source {
        bson::object_id next() override { return id; }
        bson::object_id id;
    };
    one_id ids;
    ids.id = fresh;
    return operation.build(in, ids);
}

/// The option that an error is about.
template <class T>
std::string refused_option(const result<T>& made)
{
    return made ? "nothing was refused" : std::string{made.error().context("option")};
}

/// What the executor gives for a command that the server has answered: the reply, or an error.
inline result<bson::document> answered(std::string_view reply)
{
    const bson::document received = json(reply);
    const bool fine = received.find("ok").get<double>().value_or(0) == 1;
    if (fine && !received.find("writeConcernError"))
        return received;
    attempt tried;
    tried.server = endpoint{"a:27017"};
    error why = make_server_error(received).with_context("server", "a:27017");
    return std::move(why).with_history({tried});
}

inline const holdfast::mongo::write_failure* write_failure_in(const error& why)
{
    return dynamic_cast<const holdfast::mongo::write_failure*>(why.detail());
}

}  // namespace holdfast::core::mongo
