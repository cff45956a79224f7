#include "lab/mongo/command/writer.hpp"

#include "holdfast/bson/validate.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

bson::object_id new_object_id(node& on)
{
    bson::object_id made;
    on.world.random(made.bytes);
    const auto seconds = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(on.wall_now().time_since_epoch()).count());
    for (std::size_t i = 0; i != 4; ++i)
        made.bytes[i] = static_cast<std::uint8_t>(seconds >> (24 - 8 * i));
    return made;
}

result<void> check_id(const bson::element& id)
{
    if (id.type() == bson::type::array || id.type() == bson::type::regex ||
        id.type() == bson::type::undefined) {
        return refuse(server_code::invalid_id_field,
                      "The '_id' value cannot be of type " + std::string{type_name(id.type())});
    }
    if (id.type() != bson::type::document)
        return {};
    for (const bson::element& e : id.as_document()) {
        if (e.key().starts_with('$')) {
            return refuse(server_code::dollar_prefixed_field_name,
                          "_id fields may not contain '$'-prefixed fields: " +
                              std::string{e.key()} + " is not valid for storage.");
        }
    }
    return {};
}

bool is_unset_time(const bson::element& e) noexcept
{
    return e.type() == bson::type::timestamp && e.as_timestamp() == bson::timestamp{} &&
           e.key() != "_id";
}

result<void> check_size(std::size_t bytes)
{
    if (bytes <= largest_document)
        return {};
    return refuse(server_code::bson_object_too_large,
                  "object to insert too large. size in bytes: " + std::to_string(bytes) +
                      ", max size: " + std::to_string(largest_document));
}

// All that arrives was checked when it arrived, but for a depth that commands may have and stored
// documents may not. A level takes 7 bytes at least, so that most documents are not looked at.
result<void> check_depth(bson::view document)
{
    constexpr std::size_t level = 7;
    if (document.size() <= level * bson::max_depth)
        return {};
    if (auto fine = bson::validate(document.bytes(), {.utf8 = false}); !fine)
        return refuse(22, fine.error().message());
    return {};
}

}  // namespace

result<expression_context> context_of(node& on, bson::view let)
{
    expression_context made;
    made.now = on.wall_now();
    made.cluster_time = on.cluster_time();
    made.chance = [world = &on.world] { return world->chance(); };
    if (!let.empty()) {
        auto variables = evaluate_let(let, made);
        if (!variables)
            return std::move(variables).error();
        made.variables = *std::move(variables);
    }
    return made;
}

result<void> commit(node& on, request& what, const change& one)
{
    auto at = on.write(one);
    if (!at)
        return std::move(at).error();
    what.wrote = *at;
    return {};
}

void settle(node& on, request& what)
{
    if (what.wrote)
        return;
    what.wrote = on.data->last();
    if (what.txn_number && what.session)
        on.data->sessions().begin(*what.session, *what.txn_number);
}

result<void> commit_command(node& on, request& what, std::string_view database, bson::view o)
{
    const namespace_text ns = namespace_text::command_of(database);
    const change one{.op = 'c', .ns = ns, .o = o};
    return commit(on, what, one);
}

result<collection*> ensure_collection(node& on, request& what, const namespace_text& ns)
{
    if (collection* there = on.data->data().find(ns))
        return there;
    if (auto fine = check_namespace(ns); !fine)
        return std::move(fine).error();
    const auto create = bson::doc("create", bson::unchecked_text{ns.collection()});
    if (auto fine = commit_command(on, what, ns.database(), create); !fine)
        return std::move(fine).error();
    collection* const made = on.data->data().find(ns);
    if (!made)
        return refuse(server_code::internal_error, "the collection could not be created");
    return made;
}

result<void> check_writable(const node& on, const namespace_text& ns)
{
    const std::string_view name = ns.collection();
    if (name == "system.indexes" || name == "system.namespaces" || name == "system.profile" ||
        name == "system.views") {
        return refuse(server_code::invalid_namespace,
                      "cannot write to '" + std::string{ns.text()} + "'");
    }
    const collection* const there = std::as_const(on.data->data()).find(ns);
    if (there && !there->options().view_on.empty()) {
        return refuse(server_code::command_not_supported_on_view,
                      "Namespace " + std::string{ns.text()} + " is a view, not a collection");
    }
    return {};
}

result<writer> writer::open(node& on, request& what, const namespace_text& ns,
                            bool bypass_validation)
{
    if (auto fine = check_writable(on, ns); !fine)
        return std::move(fine).error();
    writer made{on, what, ns};
    made.target_ = on.data->data().find(ns);
    made.checks_rules_ = !bypass_validation;
    return made;
}

result<const executed_statement*> writer::executed(std::int32_t statement)
{
    if (!numbered())
        return nullptr;
    const statement_id asked{*what_->session, *what_->txn_number, statement};
    auto found = on_->data->sessions().check(asked);
    if (found && *found)
        what_->wrote = on_->data->last();  // an acknowledgement waits as for the first time
    return found;
}

result<void> writer::perform(change one, std::int32_t statement, executed_statement& outcome)
{
    if (!numbered())
        return commit(*on_, *what_, one);
    const statement_id by{*what_->session, *what_->txn_number, statement};
    outcome.statement = statement;
    outcome.kind = one.op;
    one.by = &by;
    one.outcome = &outcome;
    bool close = false;
    if (on_->faults.any()) {
        if (const auto fault = on_->faults.on_transactional_write(on_->world.chance())) {
            close = fault->close_connection;
            if (fault->fail_before_commit_code) {
                what_->close_after |= close;
                return refuse(*fault->fail_before_commit_code,
                              "Failing write due to failpoint. The write must not be reflected.");
            }
        }
    }
    auto fine = commit(*on_, *what_, one);
    what_->close_after |= close;
    return fine;
}

result<bson::view> writer::rebuilt(bson::view document, const bson::element& id)
{
    scratch_.clear();
    bson::builder out{scratch_};
    if (id)
        out.copy(id);
    else
        out.add("_id", new_object_id(*on_));
    for (const bson::element& e : document) {
        if (e.key() == "_id")
            continue;
        if (is_unset_time(e)) {
            const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                on_->wall_now().time_since_epoch());
            out.add(e.key(), bson::timestamp{static_cast<std::uint32_t>(now.count()),
                                             on_->cluster_time().increment + 1});
        } else {
            out.copy(e);
        }
    }
    return out.finish();
}

result<bson::view> writer::prepared(bson::view document)
{
    if (auto fine = check_size(document.size()); !fine)
        return std::move(fine).error();
    if (auto fine = check_depth(document); !fine)
        return std::move(fine).error();
    bson::element id;
    bool as_it_is = false;
    bool first = true;
    for (const bson::element& e : document) {
        if (e.malformed())
            return malformed_field(e);
        if (e.key() == "_id") {
            if (id)
                return refuse(server_code::bad_value,
                              "can't have multiple _id fields in one document");
            as_it_is = first;
            id = e;
        } else if (is_unset_time(e)) {
            as_it_is = false;
        } else if (e.key().starts_with('$') && version_number(*on_) < 500) {
            return refuse(server_code::bad_value,
                          "Document can't have $ prefixed field names: " + std::string{e.key()});
        }
        first = false;
    }
    if (auto fine = check_id(id); !fine)
        return std::move(fine).error();
    if (as_it_is)
        return document;
    auto made = rebuilt(document, id);
    if (!made)
        return refuse(server_code::bad_value, made.error().message());
    if (auto fine = check_size(made->size()); !fine)
        return std::move(fine).error();
    return *made;
}

result<bson::view> writer::prepared_upsert(bson::view document)
{
    if (version_number(*on_) < 500) {
        if (auto fine = check_names(document, {}); !fine)
            return std::move(fine).error();
    }
    return prepared(document);
}

result<void> writer::check_rules(bson::view after, const bson::view* before)
{
    if (!checks_rules_ || !target_ || target_->options().validator.empty())
        return {};
    return check_validator(*target_, after, before);
}

result<void> writer::insert(bson::view document, std::int32_t statement, executed_statement outcome)
{
    auto ready = prepared(document);
    if (!ready)
        return std::move(ready).error();
    return insert_prepared(*ready, statement, std::move(outcome));
}

result<void> writer::insert_prepared(bson::view document, std::int32_t statement,
                                     executed_statement outcome)
{
    if (auto fine = check_rules(document, nullptr); !fine)
        return fine;
    auto fine = perform({.op = 'i', .ns = ns_, .o = document}, statement, outcome);
    if (!target_)
        target_ = on_->data->data().find(ns_);  // a first insert makes it
    return fine;
}

result<void> writer::replace(bson::view before, bson::view after, std::int32_t statement,
                             executed_statement outcome)
{
    if (after.size() > largest_document) {
        return refuse(server_code::bson_object_too_large,
                      "Resulting document after update is larger than " +
                          std::to_string(largest_document));
    }
    if (version_number(*on_) < 500) {
        if (auto fine = check_names(after, before); !fine)
            return fine;
    }
    if (auto fine = check_rules(after, &before); !fine)
        return fine;
    id_scratch_.clear();
    bson::builder id{id_scratch_};
    id.copy("_id", before.find("_id"));
    auto named = id.finish();
    if (!named)
        return refuse(server_code::internal_error, named.error().message());
    return perform({.op = 'u', .ns = ns_, .o = after, .o2 = *named}, statement, outcome);
}

result<void> writer::remove(bson::view before, std::int32_t statement, executed_statement outcome)
{
    id_scratch_.clear();
    bson::builder id{id_scratch_};
    id.copy("_id", before.find("_id"));
    auto named = id.finish();
    if (!named)
        return refuse(server_code::internal_error, named.error().message());
    return perform({.op = 'd', .ns = ns_, .o = *named}, statement, outcome);
}

}  // namespace holdfast::lab::mongo
