#include "lab/mongo/set/initial_sync.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "lab/mongo/set/snapshot.hpp"
#include "lab/mongo/set/stored_config.hpp"

#include <type_traits>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;

static_assert(std::is_move_assignable_v<disk>, "a copy takes the place of what was there at once");

namespace {

bson::document ask_for(std::int64_t id, std::int64_t from)
{
    return document_of([&](bson::builder& out) {
        out.add("_labSnapshot", 1).add("id", id).add("from", from).add("$db", "admin");
    });
}

error failed(bson::view reply)
{
    return refuse(static_cast<int>(number_or(reply.find("code"), 8)),
                  "cannot copy: " + std::string{text_or(reply.find("errmsg"), "no answer")});
}

/// Replaces the member's data by the copy, and keeps what is its own: configuration, term and vote.
result<void> take_copy(node& own, const member_role& role, disk& fresh, bson::view head)
{
    const optime at = read_optime(head.find("at"));
    if (at == optime{} || role.primary())
        return refuse(server_code::interrupted, "the copy is of no use");
    collection* const log = fresh.data().find("local.oplog.rs");
    if (!log)
        return refuse(server_code::internal_error, "a disk without an oplog");
    log->truncate();  // the entries by which the copy was made are not of this set
    fresh.start_from(at);
    if (const bson::element entry = head.find("entry"); entry.type() == bson::type::document)
        (void)log->insert(entry.as_document(), at.ts);
    store_config(fresh, role.config());
    fresh.set_term(own.data->term());
    if (const auto voted = own.data->voted_in())
        fresh.voted(*voted);
    if (!own.options.remembers_statements)
        fresh.sessions().switch_off();
    own.cursors.clear();  // they point into the data that is replaced
    *own.data = std::move(fresh);
    return {};
}

}  // namespace

awaitable<result<void>> run_initial_sync(member_context& context, const member_role& role,
                                         commit_progress& commit, peer& from)
{
    const auto fresh = std::make_unique<disk>();
    bson::document head;
    std::int64_t id = 0;
    std::uint32_t parts = 0;
    for (bool done = false; !done;) {
        const bson::document request = ask_for(id, parts);
        const auto reply = co_await from.ask(request.view(), context.now() + 30s);
        if (!reply)
            co_return reply.error();
        if (!said_ok(*reply))
            co_return failed(*reply);
        if (!context.active())
            co_return refuse(server_code::interrupted, "stopped");
        if (id == 0)
            head = bson::document{*reply};
        id = number_or(reply->find("id"), 0);
        done = flag_or(reply->find("done"), true);
        const bson::element batch = reply->find("parts");
        if (batch.type() != bson::type::array)
            co_return failed(*reply);
        for (const bson::element& part : batch.as_array()) {
            if (part.type() != bson::type::document)
                co_return failed(*reply);
            auto added = add_part(*fresh, part.as_document(), ++parts);
            if (!added)
                co_return added;
        }
    }
    auto taken = take_copy(context.node, role, *fresh, head.view());
    if (taken)
        commit.applied();
    co_return taken;
}

}  // namespace holdfast::lab::mongo
