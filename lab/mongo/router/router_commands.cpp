#include "lab/mongo/router/router_commands.hpp"

#include "lab/mongo/command/cursors.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule consistency_rules[] = {
    {"cursor", kind::document},
    {"checkIndexes", kind::boolean},
};

// There is one shard, whose metadata no other server has: it cannot be inconsistent.
result<progress> check_metadata_consistency(node& on, request& what, bson::builder& reply)
{
    if (version_number(on) < 700) {
        return refuse(server_code::command_not_found,
                      "no such command: 'checkMetadataConsistency'");
    }
    auto read = fields<consistency_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const bson::element first = *what.body.begin();
    const bool of_collection = first.type() == bson::type::string;
    if (!of_collection && as_number(first) != 1) {
        return refuse(server_code::failed_to_parse,
                      "checkMetadataConsistency takes a collection's name, or 1");
    }
    auto ns = of_collection ? namespace_text::of(what)
                            : namespace_text::join(what.database, "$cmd.aggregate");
    if (!ns)
        return std::move(ns).error();
    auto fine = reply_with_documents(on, what, reply, *ns, {}, (*read)["cursor"]);
    if (!fine)
        return std::move(fine).error();
    return progress::done;
}

constexpr command all[] = {
    {.name = "checkMetadataConsistency", .run = check_metadata_consistency},
};

}  // namespace

std::span<const command> router_commands() noexcept
{
    return all;
}

}  // namespace holdfast::lab::mongo
