#include "core/couchbase/admin/query_indexes.hpp"

#include "core/couchbase/admin/admin_order.hpp"
#include "core/couchbase/retry/json_text.hpp"
#include "core/couchbase/service/escape.hpp"

#include <utility>

namespace holdfast::core::couchbase {

namespace {

error invalid(std::string message)
{
    return error{errc::invalid_argument, std::move(message)};
}

result<void> check(const index_keyspace& in)
{
    if (in.bucket.empty())
        return invalid("an index is in a bucket: its name cannot be empty");
    if (in.scope.empty() != in.collection.empty())
        return invalid("an index is of a collection: name both scope and collection, or neither");
    return {};
}

result<void> check(const index_keyspace& in, std::string_view name)
{
    if (auto bad = check(in); !bad)
        return bad;
    return check_name(name, "index");
}

bool is_whole_bucket(const index_keyspace& of)
{
    return of.collection.empty();
}

/// ` USING GSI WITH {"defer_build":true,"num_replica":1}`
std::string ending(const index_settings& settings)
{
    std::string with;
    if (settings.deferred)
        with = R"("defer_build":true)";
    if (settings.replicas) {
        with += with.empty() ? "" : ",";
        with += R"("num_replica":)" + std::to_string(*settings.replicas);
    }
    std::string made = " USING GSI";
    if (!with.empty())
        made += " WITH {" + with + '}';
    return made;
}

/// A text as N1QL writes one.
std::string quoted_text(std::string_view text)
{
    std::string made = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            made += '\\';
        made += c;
    }
    return made + '"';
}

}  // namespace

result<std::string> create_index(const index_keyspace& in, std::string_view name,
                                 std::span<const std::string_view> keys,
                                 const index_settings& settings)
{
    if (auto bad = check(in, name); !bad)
        return std::move(bad).error();
    if (keys.empty())
        return invalid("an index needs at least one key");
    std::string list;
    for (const std::string_view key : keys) {
        if (key.empty())
            return invalid("a key of an index cannot be empty");
        list += (list.empty() ? "" : ", ") + std::string{key};
    }
    std::string made = "CREATE INDEX " + quoted_name(name) + " ON " + quoted_keyspace(in) + " (" +
                       list + ')';
    if (!settings.condition.empty())
        made.append(" WHERE (").append(settings.condition).append(")");
    return made + ending(settings);
}

result<std::string> create_primary_index(const index_keyspace& in, const index_settings& settings)
{
    if (auto bad = check(in); !bad)
        return std::move(bad).error();
    if (!settings.condition.empty())
        return invalid("a primary index has all documents: no condition");
    std::string made = "CREATE PRIMARY INDEX ";
    if (!settings.name.empty())
        made += quoted_name(settings.name) + ' ';
    return made + "ON " + quoted_keyspace(in) + ending(settings);
}

result<std::string> drop_index(const index_keyspace& in, std::string_view name)
{
    if (auto bad = check(in, name); !bad)
        return std::move(bad).error();
    if (is_whole_bucket(in))
        return "DROP INDEX " + quoted_keyspace(in) + '.' + quoted_name(name) + " USING GSI";
    return "DROP INDEX " + quoted_name(name) + " ON " + quoted_keyspace(in) + " USING GSI";
}

result<std::string> drop_primary_index(const index_keyspace& in,
                                       const drop_index_settings& settings)
{
    if (!settings.name.empty())
        return drop_index(in, settings.name);
    if (auto bad = check(in); !bad)
        return std::move(bad).error();
    return "DROP PRIMARY INDEX ON " + quoted_keyspace(in) + " USING GSI";
}

result<std::string> build_indexes(const index_keyspace& in, std::span<const std::string> names)
{
    if (auto bad = check(in); !bad)
        return std::move(bad).error();
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : ", ") + quoted_name(name);
    return "BUILD INDEX ON " + quoted_keyspace(in) + " (" + list + ')';
}

result<std::string> get_all_indexes(const index_keyspace& in)
{
    if (auto bad = check(in); !bad)
        return std::move(bad).error();
    const std::string bucket = quoted_text(in.bucket);
    std::string where = "idx.bucket_id = " + bucket;
    if (!is_whole_bucket(in))
        where += " AND idx.scope_id = " + quoted_text(in.scope) +
                 " AND idx.keyspace_id = " + quoted_text(in.collection);
    // The default collection's are listed as those of old servers are: without a bucket.
    if (is_whole_bucket(in) || (in.scope == "_default" && in.collection == "_default"))
        where = '(' + where + ") OR (idx.bucket_id IS MISSING AND idx.keyspace_id = " + bucket +
                ')';
    return "SELECT idx.* FROM system:indexes AS idx WHERE (" + where +
           ") AND idx.`using` = \"gsi\" ORDER BY idx.is_primary DESC, idx.name ASC";
}

result<query_index> read_index(std::string_view row)
{
    const auto parsed = parse_json(row);
    if (!parsed)
        return parsed.error();
    query_index made;
    made.name = text_in(*parsed, "name");
    if (made.name.empty())
        return unexpected_answer("an index: it has no name");
    made.is_primary = flag_in(*parsed, "is_primary");
    made.type = text_in(*parsed, "using");
    made.state = text_in(*parsed, "state");
    made.bucket = text_in(*parsed, "bucket_id");
    made.scope = text_in(*parsed, "scope_id");
    if (made.bucket.empty())
        made.bucket = text_in(*parsed, "keyspace_id");
    else
        made.collection = text_in(*parsed, "keyspace_id");
    made.condition = text_in(*parsed, "condition");
    made.partition = text_in(*parsed, "partition");
    if (const boost::json::array* const keys = find_array(*parsed, "index_key")) {
        for (const boost::json::value& one : *keys) {
            if (const boost::json::string* const key = one.if_string())
                made.keys.emplace_back(key->data(), key->size());
        }
    }
    return made;
}

}  // namespace holdfast::core::couchbase
