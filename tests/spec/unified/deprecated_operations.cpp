#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"
#include "api_call.hpp"
#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/query.hpp"
#include "core/mongo/operation/read_draft.hpp"
#include "holdfast/mongo/operations.hpp"

/// Helpers that other drivers have and have deprecated. The public API does without them; here they
/// are carried out by the library's executor, as its own helpers are.
namespace holdfast::spec::unified {
namespace {

using mongo::access;

result<core::mongo::command> count_command(const core::mongo::operation_space& space,
                                           bson::view filter, const mongo::count_options& options)
{
    core::mongo::draft made{space, "count", filter.size()};
    made.body.add("query", filter);
    made.put("skip", options.skip);
    made.put("limit", options.limit);
    made.put("collation", options.collation);
    options.hint.write(made.body, "hint");
    options.comment.write(made.body, "comment");
    made.put("maxTimeMS", options.max_time);
    return finish_read(made, space, options);
}

/// A read, but none that may be retried.
result<core::mongo::command> map_reduce_command(const core::mongo::operation_space& space,
                                                arguments& given,
                                                const mongo::count_options& options)
{
    core::mongo::draft made{space, "mapReduce", 256};
    for (const char* const name : {"map", "reduce", "out"})
        made.body.copy(name, given.need(name));
    if (auto read = make_read(made.to, space, options.read_concern, options.read_preference); !read)
        return std::move(read).error();
    made.to.eligible = false;
    return made.finish();
}

outcome_later map_reduce(context_ptr in, const operation& what)
{
    const mongo::collection& on = in->named.get<collection_entity>(what.object).api;
    arguments given{*in, what};
    mongo::count_options options;
    options.session = given.session();
    auto command = map_reduce_command(access::settings_of(on), given, options);
    given.finish();
    demand(!command || command->body.view().find_path("out.inline"),
           "mapReduce: the runner knows inline results only");
    auto running = access::client_of(on)->run_and_read<result<bson::document>>(
        std::move(command), options.session, &core::mongo::run_command_operation::read);
    const auto came = co_await std::move(running);
    if (!came)
        co_return failed_with(came.error());
    const bson::element results = came->find("results");
    demand(results.type() == bson::type::array, "mapReduce: the reply has no results");
    const bson::array all{results.as_array()};
    co_return gave(all);
}

constexpr named_operation deprecated_operations_table[] = {
    {"count",
     on_collection<mongo::count_options, arg::document<"filter">>(
         [](const mongo::collection& on, bson::view filter, const mongo::count_options& options) {
             return access::client_of(on)->run_and_read<result<std::int64_t>>(
                 count_command(access::settings_of(on), filter, options), options.session,
                 &core::mongo::estimated_document_count_operation::read);
         })},
    {"mapReduce", map_reduce},
};

}  // namespace

std::span<const named_operation> deprecated_operations() noexcept
{
    return deprecated_operations_table;
}

}  // namespace holdfast::spec::unified
