#include "lab/mongo/command/admin.hpp"

#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/stats.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule fsync_rules[] = {{"lock", kind::boolean}, {"async", kind::ignored}};
constexpr field_rule kill_op_rules[] = {{"op", kind::any, true}};
constexpr field_rule profile_rules[] = {
    {"slowms", kind::number},
    {"sampleRate", kind::number},
    {"filter", kind::ignored},
};

}  // namespace

result<progress> run_fsync(node& on, request& what, bson::builder& reply)
{
    auto read = fields<fsync_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    if (read->flag("lock"))
        return refuse(server_code::command_not_supported, "fsync with lock is not in this lab");
    reply.add("numFiles", 1);
    return progress::done;
}

result<progress> run_current_op(node& on, request&, bson::builder& reply)
{
    auto list = reply.array("inprog");
    for (const bson::document& one : current_operations_of(on))
        list.add(one);
    return progress::done;
}

result<progress> run_kill_op(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<kill_op_rules>::read(on, what); !read)
        return std::move(read).error();
    reply.add("info", "attempting to kill op");
    return progress::done;
}

result<progress> run_log_rotate(node& on, request& what, bson::builder&)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    return progress::done;
}

result<progress> run_profile(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<profile_rules>::read(on, what); !read)
        return std::move(read).error();
    const auto level = as_number(*what.body.begin());
    if (!level || *level < -1 || *level > 2) {
        return refuse(server_code::bad_value, "BSON field 'profile' value must be >= -1 and <= 2");
    }
    if (*level > 0)
        return refuse(server_code::command_not_supported, "the profiler is not in this lab");
    reply.add("was", 0).add("slowms", 100).add("sampleRate", 1.0);
    return progress::done;
}

result<progress> run_search_index(node&, request&, bson::builder&)
{
    return refuse(31082,
                  "Using Atlas Search Database Commands and the $listSearchIndexes "
                  "aggregation stage requires additional configuration. This server is "
                  "not part of an Atlas deployment");
}

result<progress> run_test_version(node&, request& what, bson::builder& reply)
{
    reply.add("ran", what.name);
    return progress::done;
}

}  // namespace holdfast::lab::mongo
