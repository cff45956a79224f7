#include "results.hpp"

#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/containers.hpp"
#include "holdfast/mongo/error.hpp"

#include <utility>

namespace holdfast::spec::unified {
namespace {

/// {v: {...}}, filled by the function.
template <class Fill>
outcome_of_operation built(const Fill& fill)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    {
        auto value = out.document("v");
        fill(value);
    }
    out.finish().value();
    outcome_of_operation made;
    made.value = bson::document::adopt(std::move(bytes));
    return made;
}

template <class T>
outcome_of_operation plain(const T& value)
{
    outcome_of_operation made;
    made.value = bson::doc("v", value);
    return made;
}

outcome_of_operation unacknowledged()
{
    return built([](bson::builder& out) { out.add("acknowledged", false); });
}

void add_ids(bson::builder& out, std::string_view name,
             const std::map<std::int64_t, mongo::id_value>& ids)
{
    auto inner = out.document(name);
    for (const auto& [index, id] : ids)
        inner.copy(std::to_string(index), id.value());
}

void add_update(bson::builder& out, const mongo::update_result& one)
{
    out.add("matchedCount", one.matched_count).add("modifiedCount", one.modified_count);
    if (one.upserted_id)
        out.copy("upsertedId", one.upserted_id->value());
}

template <class Results, class Add>
void add_each(bson::builder& out, std::string_view name, const Results& results, const Add& add)
{
    auto inner = out.document(name);
    for (const auto& [index, one] : results) {
        auto fields = inner.document(std::to_string(index));
        add(fields, one);
    }
}

template <class Result>
void add_counts(bson::builder& out, const Result& came)
{
    out.add("insertedCount", came.inserted_count)
        .add("upsertedCount", came.upserted_count)
        .add("matchedCount", came.matched_count)
        .add("modifiedCount", came.modified_count)
        .add("deletedCount", came.deleted_count);
}

}  // namespace

outcome_of_operation gave(const mongo::insert_one_result& came)
{
    return built([&](bson::builder& out) {
        if (!came.acknowledged)
            out.add("acknowledged", false);
        if (!came.inserted_id.empty())
            out.copy("insertedId", came.inserted_id.value());
    });
}

outcome_of_operation gave(const mongo::insert_many_result& came)
{
    return built([&](bson::builder& out) {
        if (!came.acknowledged)
            out.add("acknowledged", false);
        else
            out.add("insertedCount", came.inserted_count);
        auto ids = out.document("insertedIds");
        for (std::size_t n = 0; n < came.inserted_ids.size(); ++n)
            ids.copy(std::to_string(n), came.inserted_ids[n]);
    });
}

outcome_of_operation gave(const mongo::update_result& came)
{
    if (!came.acknowledged)
        return unacknowledged();
    return built([&](bson::builder& out) {
        add_update(out, came);
        out.add("upsertedCount", came.upserted_count);
    });
}

outcome_of_operation gave(const mongo::delete_result& came)
{
    if (!came.acknowledged)
        return unacknowledged();
    return built([&](bson::builder& out) { out.add("deletedCount", came.deleted_count); });
}

outcome_of_operation gave(const mongo::bulk_write_result& came)
{
    if (!came.acknowledged)
        return unacknowledged();
    return built([&](bson::builder& out) {
        add_counts(out, came);
        add_ids(out, "insertedIds", came.inserted_ids);
        add_ids(out, "upsertedIds", came.upserted_ids);
    });
}

outcome_of_operation gave(const mongo::client_bulk_write_result& came)
{
    if (!came.acknowledged)
        return unacknowledged();
    return built([&](bson::builder& out) {
        add_counts(out, came);
        if (!came.verbose)
            return;
        add_each(out, "insertResults", came.insert_results,
                 [](bson::builder& to, const mongo::insert_one_result& one) {
                     to.copy("insertedId", one.inserted_id.value());
                 });
        add_each(out, "updateResults", came.update_results, add_update);
        add_each(out, "deleteResults", came.delete_results,
                 [](bson::builder& to, const mongo::delete_result& one) {
                     to.add("deletedCount", one.deleted_count);
                 });
    });
}

outcome_of_operation gave(const bson::document& came)
{
    return plain(came);
}
outcome_of_operation gave(const bson::array& came)
{
    return plain(came);
}
outcome_of_operation gave(std::int64_t came)
{
    return plain(came);
}
outcome_of_operation gave(const std::string& came)
{
    return plain(came);
}
outcome_of_operation gave(const std::vector<std::string>& came)
{
    return plain(came);
}
outcome_of_operation gave(const std::vector<bson::document>& came)
{
    return plain(came);
}
outcome_of_operation gave(const std::optional<bson::document>& came)
{
    return came ? plain(*came) : plain(bson::null{});
}
outcome_of_operation gave(bson::timestamp came)
{
    return plain(came);
}
outcome_of_operation gave_nothing()
{
    return {};
}

outcome_of_operation failed_with(const error& why)
{
    outcome_of_operation made;
    if (const mongo::write_failure* const known = mongo::write_failure_of(why)) {
        if (known->partial_result)
            made = gave(*known->partial_result);
        else if (known->partial_client_result)
            made = gave(*known->partial_client_result);
    }
    made.failed = why;
    return made;
}

}  // namespace holdfast::spec::unified
