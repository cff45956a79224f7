#include "lab/mongo/command/cursors.hpp"

#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule get_more_rules[] = {
    {"collection", kind::text, true},
    {"batchSize", kind::count},
    {"term", kind::ignored},
    {"lastKnownCommittedOpTime", kind::ignored},
    {"includeQueryStatsMetrics", kind::ignored},
};

constexpr field_rule kill_cursors_rules[] = {{"cursors", kind::array, true}};

std::int64_t new_cursor_id(node& on)
{
    for (;;) {
        std::array<std::uint8_t, 8> bytes;
        on.world.random(bytes);
        const std::int64_t id = bson::load<std::int64_t>(bytes.data()) &
                                std::numeric_limits<std::int64_t>::max();
        if (id != 0 && !on.cursors.find(id))
            return id;
    }
}

error not_found(std::int64_t id)
{
    return refuse(server_code::cursor_not_found, "cursor id " + std::to_string(id) + " not found");
}

result<void> check_owner(const cursor& found, const request& what, std::string_view ns)
{
    if (found.ns != ns) {
        return refuse(server_code::unauthorized, "Requested getMore on namespace '" +
                                                     std::string{ns} +
                                                     "', but cursor belongs to a different "
                                                     "namespace " +
                                                     found.ns);
    }
    if (found.session == what.session)
        return {};
    const std::string cursor = "Cannot run getMore on cursor " + std::to_string(found.id);
    if (!what.session)
        return refuse(50736, cursor + ", which was created in a session, without an lsid");
    if (!found.session)
        return refuse(50737, cursor + ", which was not created in a session, in a session");
    return refuse(50738, cursor + ", which was created in another session");
}

// failGetMoreAfterCursorCheckout.
result<void> injected(node& on, request& what)
{
    if (!on.faults.any())
        return {};
    const auto fault = on.faults.on_get_more(on.world.chance());
    if (!fault)
        return {};
    what.close_after |= fault->close_connection;
    if (!fault->error_code)
        return {};
    return refuse(*fault->error_code, "Hit the 'failGetMoreAfterCursorCheckout' failpoint");
}

// Whether there is something for a reader who would rather wait: looks one document ahead.
result<bool> has_more(cursor& of)
{
    if (of.put_back)
        return true;
    auto next = of.from->next();
    if (!next)
        return std::move(next).error();
    if (*next)
        of.put_back.emplace(**next);
    return of.put_back.has_value();
}

constexpr std::int64_t default_await_ms = 1000;

}  // namespace

result<bool> fill_batch(cursor& from, bson::array_builder& to, std::int64_t most,
                        std::int64_t* added)
{
    std::int64_t count = 0;
    std::size_t bytes = 0;
    bool ended = false;
    while (count < most) {
        if (from.put_back) {
            bytes += from.put_back->size();
            to.add(*from.put_back);
            from.put_back.reset();
            ++count;
            continue;
        }
        auto next = from.from->next();
        if (!next)
            return std::move(next).error();
        if (!*next) {
            ended = true;
            break;
        }
        if (count != 0 && bytes + (*next)->size() > largest_document) {
            from.put_back.emplace(**next);
            break;
        }
        bytes += (*next)->size();
        to.add(**next);
        ++count;
    }
    if (added)
        *added = count;
    return ended || (!from.put_back && from.from->ended());
}

result<void> open_cursor(node& on, const request& what, bson::builder& reply, opening made)
{
    cursor open;
    open.from = std::move(made.from);
    bool ended = true;
    auto fields = reply.document("cursor");
    {
        auto first = fields.array("firstBatch");
        auto filled = fill_batch(open, first, made.batch_size);
        if (!filled)
            return std::move(filled).error();
        ended = *filled;
    }
    if (made.tailable)
        ended = !made.stays_open;
    if (!ended && !made.single_batch) {
        open.id = new_cursor_id(on);
        open.ns = made.ns;
        open.session = what.session;
        open.tailable = made.tailable;
        open.await_data = made.await_data;
        open.no_timeout = made.no_timeout;
        open.connection = what.client.connection;
        open.used = on.now();
        auto kept = on.cursors.add(std::move(open));
        if (!kept)
            return std::move(kept).error();
        fields.add("id", (*kept)->id);
    } else {
        fields.add("id", std::int64_t{0});
    }
    fields.add("ns", made.ns);
    if (made.reported_time)
        fields.add("atClusterTime", *made.reported_time);
    return {};
}

result<void> reply_with_documents(node& on, const request& what, bson::builder& reply,
                                  std::string_view ns, documents all, const bson::element& cursor)
{
    auto batch_size = read_cursor_options(cursor, what.name);
    if (!batch_size)
        return std::move(batch_size).error();
    opening made;
    made.ns = ns;
    made.from = std::make_unique<documents_source>(std::move(all), true);
    made.batch_size = *batch_size;
    return open_cursor(on, what, reply, std::move(made));
}

result<std::int64_t> read_cursor_options(const bson::element& from, std::string_view command)
{
    if (from.type() != bson::type::document)
        return first_batch_documents;
    std::string where{command};
    where += ".cursor";
    std::int64_t size = first_batch_documents;
    for (const bson::element& e : from.as_document()) {
        if (e.malformed())
            return malformed_field(e);
        if (e.key() != "batchSize")
            return unknown_field(where, e.key());
        const auto number = as_number(e);
        if (!number)
            return wrong_type(where, "batchSize", e.type(), "[long, int, decimal, double]");
        if (*number < 0) {
            return refuse(51024, "BSON field 'batchSize' value must be >= 0, actual value '" +
                                     std::to_string(*number) + "'");
        }
        size = *number;
    }
    return size;
}

result<progress> run_get_more(node& on, request& what, bson::builder& reply)
{
    auto read = fields<get_more_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const bson::element first = *what.body.begin();
    if (first.type() != bson::type::int64)
        return wrong_type("getMore", "getMore", first.type(), "long");
    const std::int64_t id = first.as_int64();
    auto ns = namespace_text::join(what.database, read->text("collection"));
    if (!ns)
        return std::move(ns).error();
    cursor* const found = on.cursors.find(id);
    if (!found)
        return not_found(id);
    if (auto fine = check_owner(*found, what, *ns); !fine)
        return std::move(fine).error();
    const std::int64_t await_ms = what.max_time_ms.value_or(0);
    if (await_ms > 0 && !found->await_data) {
        return refuse(server_code::bad_value,
                      "cannot set maxTimeMS on getMore command for a non-awaitData cursor");
    }
    found->used = on.now();
    const bool first_call = what.seen == 0;  // of perhaps several
    what.seen = 1;
    if (first_call) {
        if (auto fine = injected(on, what); !fine)
            return std::move(fine).error();
    }
    if (auto fine = found->from->refresh(); !fine) {
        on.cursors.remove(id);
        return std::move(fine).error();
    }
    if (found->tailable && found->await_data) {
        auto more = has_more(*found);
        if (!more) {
            on.cursors.remove(id);
            return std::move(more).error();
        }
        if (!*more && !what.expired) {
            if (first_call)
                what.wait_until = what.arrived + std::chrono::milliseconds{
                                                     await_ms > 0 ? await_ms : default_await_ms};
            return progress::wait;
        }
    }
    std::int64_t most = read->number("batchSize", 0);
    if (most == 0)
        most = std::numeric_limits<std::int64_t>::max();
    result<bool> ended = true;
    auto cursor_fields = reply.document("cursor");
    {
        auto batch = cursor_fields.array("nextBatch");
        ended = fill_batch(*found, batch, most);
    }
    if (!ended) {
        on.cursors.remove(id);
        return std::move(ended).error();
    }
    const bool gone = *ended && !found->tailable;
    if (gone)
        on.cursors.remove(id);
    cursor_fields.add("id", gone ? std::int64_t{0} : id).add("ns", ns->text());
    return progress::done;
}

result<progress> run_kill_cursors(node& on, request& what, bson::builder& reply)
{
    auto read = fields<kill_cursors_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    auto ns = namespace_text::of(what);
    if (!ns)
        return std::move(ns).error();
    std::vector<std::int64_t> killed;
    std::vector<std::int64_t> unknown;
    for (const bson::element& e : read->array("cursors")) {
        if (e.type() != bson::type::int64) {
            return wrong_type("killCursors.cursors", e.key(), e.type(), "long");
        }
        cursor* const found = on.cursors.find(e.as_int64());
        const bool mine = found && found->ns == ns->text();
        (mine ? killed : unknown).push_back(e.as_int64());
        if (mine)
            on.cursors.remove(e.as_int64());
    }
    const auto list = [&](std::string_view name, const std::vector<std::int64_t>& ids) {
        auto out = reply.array(name);
        for (const std::int64_t id : ids)
            out.add(id);
    };
    list("cursorsKilled", killed);
    list("cursorsNotFound", unknown);
    list("cursorsAlive", {});
    list("cursorsUnknown", {});
    return progress::done;
}

}  // namespace holdfast::lab::mongo
