#include "lab/mongo/data/disk.hpp"

#include "lab/mongo/data/oplog_entry.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace holdfast::lab::mongo {
namespace {

constexpr std::string_view oplog_name = "local.oplog.rs";
constexpr std::size_t kept_scratch = 1 << 20;

/// "local" belongs to one member alone; nothing of it is replicated.
bool is_local(std::string_view ns) noexcept
{
    return ns.starts_with("local.");
}

error missing_document(const change& what)
{
    return refuse(server_code::no_such_key, "there is no such document in " + std::string{what.ns});
}

bool creates_collection(const change& what)
{
    return what.op == 'i' ||
           (what.op == 'c' && !what.o.empty() && what.o.begin()->key() == "createIndexes");
}

}  // namespace

disk::disk(std::int64_t oplog_bytes) : oplog_bytes_{oplog_bytes}
{
    open_oplog();
}

void disk::open_oplog()
{
    collection_options options;
    options.raw = bson::doc("capped", true, "size", oplog_bytes_, "autoIndexId", false);
    options.capped = true;
    options.max_bytes = oplog_bytes_;
    options.without_ids = true;
    (void)data_.create(oplog_name, derived_uuid({}, oplog_name), std::move(options));
}

const collection& disk::oplog() const
{
    return *data_.find(oplog_name);
}

optime disk::next(std::int64_t term, bson::datetime wall) const
{
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t since =
        std::chrono::floor<std::chrono::seconds>(wall.time_since_epoch()).count();
    const auto seconds = static_cast<std::uint32_t>(std::clamp<std::int64_t>(since, 1, most));
    bson::timestamp ts = last_.ts;
    if (seconds > ts.seconds) {
        ts = {seconds, 1};
    } else if (ts.increment == most) {
        ts = {ts.seconds + 1, 1};
    } else {
        ++ts.increment;
    }
    return {term, ts};
}

result<optime> disk::write(const change& what, std::int64_t term, bson::datetime wall)
{
    if (is_local(what.ns)) {
        if (auto done = perform(what, last_.ts); !done)
            return std::move(done).error();
        return last_;
    }
    if (creates_collection(what)) {
        if (auto made = create_for(what, term, wall); !made)
            return std::move(made).error();
    }
    const optime at = next(term, wall);
    if (auto done = take(what, at, describe(what, at, wall)); !done)
        return std::move(done).error();
    return at;
}

result<void> disk::apply(bson::view entry)
{
    auto read = read_oplog_entry(entry);
    if (!read)
        return std::move(read).error();
    if (read->at.ts <= last_.ts || read->at.term < last_.term)
        return refuse(server_code::bad_value,
                      "an oplog entry is not later than those that were applied before");
    change what{read->op, read->ns, read->o, read->o2};
    if (read->by) {
        what.by = &*read->by;
        what.outcome = &read->outcome;
    }
    return take(what, read->at, entry);
}

result<void> disk::take(const change& what, const optime& at, bson::view entry)
{
    if (static_cast<std::int64_t>(entry.size()) > oplog_bytes_)  // before anything has happened
        return refuse(server_code::bson_object_too_large, "the oplog has no room for this write");
    if (auto done = perform(what, at.ts); !done)
        return done;
    if (auto kept = data_.find(oplog_name)->insert(entry, at.ts); !kept)
        return std::move(kept).error();
    last_ = at;
    if (what.by == nullptr)
        return {};
    executed_statement remembered;
    if (what.outcome != nullptr)
        remembered = *what.outcome;
    remembered.statement = what.by->statement;
    remembered.at = at;
    remembered.kind = what.op;
    remembered.upserted_id = {};
    if (remembered.upserted) {
        const bson::element id = what.o.find("_id");
        if (id)
            remembered.upserted_id = bson::doc("_id", id);
    }
    sessions_.record(what.by->session, what.by->txn_number, std::move(remembered));
    return {};
}

/// A first insert, or a first index, makes the collection: as a change of its own before it.
result<void> disk::create_for(const change& what, std::int64_t term, bson::datetime wall)
{
    const std::string_view database = database_of(what.ns);
    std::string made_name;
    std::string_view name = collection_of(what.ns);
    std::string_view ns = what.ns;
    if (what.op == 'c') {
        const bson::element said = *what.o.begin();
        if (said.type() != bson::type::string)
            return refuse(server_code::type_mismatch, "a collection's name must be a string");
        name = said.as_string();
        made_name.append(database).append(1, '.').append(name);
        ns = made_name;
        // Nothing must have happened if the index is refused.
        if (data_.find(ns) == nullptr) {
            if (auto spec = read_command_index(what.o); !spec)
                return std::move(spec).error();
        }
    }
    if (data_.find(ns) != nullptr)
        return {};
    if (what.op == 'i' && !what.o.find("_id"))
        return refuse(server_code::bad_value, "a document to insert has no _id");
    const optime at = next(term, wall);
    const std::string commands = std::string{database} + ".$cmd";
    const bson::document create = bson::doc("create", bson::unchecked_text{name});
    const change creation{'c', commands, create};
    return take(creation, at, describe(creation, at, wall));
}

bson::view disk::describe(const change& what, const optime& at, bson::datetime wall)
{
    const bson::uuid* ui = nullptr;
    std::optional<bson::uuid> of_command;
    if (what.op == 'c') {
        of_command = uuid_of_command(what, at.ts, data_);
        ui = of_command ? &*of_command : nullptr;
    } else if (const collection* const in = data_.find(what.ns)) {
        ui = &in->uuid();
    }
    if (scratch_.capacity() > kept_scratch)
        scratch_ = {};  // one large document must not cost memory for ever
    scratch_.clear();
    return write_oplog_entry(scratch_, what, at, wall, ui);
}

result<void> disk::perform(const change& what, bson::timestamp at)
{
    if (what.op == 'n')
        return {};
    if (what.op == 'c')
        return perform_command(what, at);
    collection* in = data_.find(what.ns);
    if (in == nullptr && what.op == 'i' && is_local(what.ns)) {
        auto made = data_.create(what.ns, derived_uuid(at, what.ns), {});
        if (!made)
            return std::move(made).error();
        in = *made;
    }
    if (in == nullptr)
        return refuse(server_code::namespace_not_found,
                      "Collection " + std::string{what.ns} + " does not exist");
    if (what.op == 'i') {
        auto made = in->insert(what.o, at);
        if (!made)
            return std::move(made).error();
        return {};
    }
    if (what.op != 'u' && what.op != 'd')
        return refuse(server_code::bad_value, "an unknown operation in the oplog");
    const bson::view by = what.op == 'u' ? what.o2 : what.o;
    const auto found = in->find_by_id(by.find("_id"));
    if (!found)
        return missing_document(what);
    if (what.op == 'u')
        return in->replace(found->id, what.o, at);
    in->remove(found->id, at);
    return {};
}

std::optional<bson::document> disk::entry_at(bson::timestamp ts) const
{
    const collection& log = oplog();
    const auto first = log.next(0);
    const auto last = log.previous(0);
    if (!first)
        return {};
    // Nothing is ever taken out of the middle, so records and times rise together without gaps.
    record_id low = first->id;
    record_id high = last->id;
    while (low <= high) {
        const record_id middle = low + (high - low) / 2;
        const auto found = log.find(middle);
        if (!found)
            return {};
        const bson::element at = found->document.find("ts");
        if (at.type() != bson::type::timestamp)
            return {};
        if (at.as_timestamp() == ts)
            return bson::document{found->document};
        if (at.as_timestamp() < ts)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return {};
}

std::optional<bson::timestamp> disk::oldest() const
{
    const auto first = oplog().next(0);
    if (!first)
        return {};
    const bson::element at = first->document.find("ts");
    return at.type() == bson::type::timestamp ? std::optional{at.as_timestamp()} : std::nullopt;
}

void disk::set_term(std::int64_t term) noexcept
{
    term_ = term;
}

void disk::clear()
{
    data_.clear();
    sessions_.clear();
    last_ = {};
    history_from_ = {};
    open_oplog();
}

void disk::start_from(const optime& at)
{
    last_ = at;
    history_from_ = at.ts;
}

}  // namespace holdfast::lab::mongo
