#pragma once
#include "lab/couchbase/n1ql/datastore.hpp"
#include "lab/couchbase/n1ql/index_catalog.hpp"
#include "lab/couchbase/n1ql/parser.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/run.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

/// The collections `travel` and `travel.inventory.airline`, in memory.
class memory_store final : public datastore {
public:
    struct stored {
        std::string text;
        std::uint64_t cas;
        std::uint32_t expiry;
    };

    result<keyspace> find(const keyspace_name& name, purpose) override
    {
        keyspace found;
        found.bucket = name.parts.front();
        if (name.parts.size() == 3) {
            found.scope = name.parts[1];
            found.collection = name.parts[2];
        }
        if (name.parts.size() == 2 || !documents.contains(found))
            return refuse(query_code::keyspace_not_found, "Keyspace not found " + found.path());
        return found;
    }

    result<std::vector<std::string>> keys(const keyspace& in) override
    {
        std::vector<std::string> all;
        for (const auto& [key, one] : documents[in])
            all.push_back(key);
        return all;
    }

    result<std::optional<item>> get(const keyspace& in, const std::string& key) override
    {
        std::optional<item> made;
        const auto found = documents[in].find(key);
        if (found != documents[in].end())
            made = item{{key, found->second.cas, found->second.expiry, 0, true},
                        *read_json(found->second.text)};
        return made;
    }

    result<item_metadata> store(const keyspace& in, change_kind what, const std::string& key,
                                const new_item& made) override
    {
        const auto found = documents[in].find(key);
        const bool exists = found != documents[in].end();
        if (what == change_kind::insert && exists)
            return refuse_change(dml_reason::document_exists, "Duplicate Key: " + key);
        if (what == change_kind::replace && found->second.cas != made.cas)
            return refuse_change(dml_reason::cas_mismatch, "CAS mismatch");
        const std::uint32_t kept = made.preserve_expiry && exists ? found->second.expiry : 0;
        documents[in][key] = {made.content, ++last_cas, made.expiry + kept};
        return item_metadata{key, last_cas, made.expiry + kept, 0, true};
    }

    result<void> remove(const keyspace& in, const std::string& key, std::uint64_t) override
    {
        documents[in].erase(key);
        return {};
    }

    bool is_catalog(const keyspace_name& name) const override { return name.space == "system"; }
    result<json::array> catalog_rows(const keyspace_name& name) override
    {
        json::array rows;
        if (name.parts.front() == "indexes") {
            for (const index_record& one : indexes.all())
                rows.push_back(index_row(one, "127.0.0.1:8091"));
        }
        return rows;
    }

    result<void> create_index(const create_index_statement& what) override
    {
        const auto on = find(what.on, purpose::change);
        return on ? indexes.create(*on, what) : error{on.error()};
    }
    result<void> drop_index(const drop_index_statement& what) override
    {
        const auto on = find(what.on, purpose::change);
        return on ? indexes.drop(*on, what) : error{on.error()};
    }
    result<void> build_indexes(const keyspace_name& on,
                               const std::vector<std::string>& names) override
    {
        const auto found = find(on, purpose::change);
        return found ? indexes.build(*found, names) : error{found.error()};
    }
    result<void> change_datasets(const dataset_statement&) override { return {}; }

    void put(const std::string& key, std::string text)
    {
        documents[{"travel"}][key] = {std::move(text), ++last_cas, 0};
    }

    std::map<keyspace, std::map<std::string, stored>> documents = {
        {{"travel"}, {}}, {{"travel", "inventory", "airline"}, {}}};
    std::uint64_t last_cas = 100;
    index_catalog indexes;
};

/// What became of a statement: its rows, and behind them "error CODE" if it failed.
inline std::vector<std::string> rows_of(datastore& on, std::string_view text,
                                        std::string_view parameters = "{}",
                                        run_options options = {})
{
    const value given = read_json(parameters);
    environment in;
    in.now_millis = 1'700'000'000'000;
    if (given && given->is_object())
        in.named = &given->get_object();
    if (given && given->is_array())
        in.positional = &given->get_array();
    std::vector<std::string> rows;
    const auto fail = [&](const error& reason) {
        rows.push_back("error " + std::to_string(code_of(reason)));
        return rows;
    };
    const auto parsed = parse(text);
    if (!parsed)
        return fail(parsed.error());
    const auto begun = start(**parsed, on, in, options);
    if (!begun)
        return fail(begun.error());
    for (;;) {
        std::string row;
        const auto done = (*begun)->next(row);
        if (!done)
            return fail(done.error());
        if (*done == progress::end)
            return rows;
        if (*done == progress::row)
            rows.push_back(std::move(row));
    }
}

inline std::string joined(const std::vector<std::string>& rows)
{
    std::string made;
    for (const std::string& one : rows)
        made += made.empty() ? one : " " + one;
    return made;
}

}  // namespace holdfast::lab::couchbase::n1ql
