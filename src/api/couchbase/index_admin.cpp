// Query indexes: statements of the query service, and waiting.
#include "api/couchbase/access.hpp"
#include "api/couchbase/start_admin.hpp"
#include "core/couchbase/admin/query_indexes.hpp"
#include "shell/retry_loop.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::couchbase {

namespace calls {

namespace {

using namespace std::chrono_literals;
namespace core_cb = core::couchbase;

/// A call of several statements: they share its time.
class index_call {
public:
    index_call(std::shared_ptr<cluster_impl> in, admin_terms terms)
        : cluster_{std::move(in)},
          terms_{std::move(terms)},
          until_{core::deadline::after(
              cluster_->world->steady_now(),
              terms_.timeout.value_or(cluster_->settings.timeouts.management))}
    {
    }

    query_rows rows(const std::string& statement, bool readonly) const
    {
        query_options options;
        const duration left = until_.left(cluster_->world->steady_now());
        options.timeout = std::max(std::chrono::floor<milliseconds>(left), 1ms);
        options.readonly = readonly;
        options.strategy = &terms_.strategy;
        if (terms_.context)
            options.context = terms_.context.get();
        return access::make_cluster(cluster_).query(statement, options);
    }

    runtime::world& world() const { return *cluster_->world; }
    runtime::event& closing() const { return cluster_->state->closing; }
    const core::deadline& until() const { return until_; }

private:
    std::shared_ptr<cluster_impl> cluster_;
    admin_terms terms_;
    core::deadline until_;
};

/// A statement that changes something; `meaningless` is an error that is none to the caller.
asio::awaitable<result<void>> change(index_call in, std::string statement,
                                     std::optional<errc> meaningless)
{
    auto rows = in.rows(statement, false);
    auto done = co_await rows.run(asio::use_awaitable);
    if (done || (meaningless && done.error().code() == *meaningless))
        co_return result<void>{};
    co_return std::move(done).error();
}

asio::awaitable<result<std::vector<query_index>>> list(const index_call& in, std::string statement)
{
    std::vector<query_index> found;
    auto rows = in.rows(statement, true);
    for (;;) {
        auto row = co_await rows.next(asio::use_awaitable);
        if (!row)
            co_return std::move(row).error();
        if (!*row)
            break;
        auto index = core_cb::read_index((*row)->text());
        if (!index)
            co_return std::move(index).error();
        found.push_back(*std::move(index));
    }
    co_return found;
}

asio::awaitable<result<std::vector<query_index>>> list_once(index_call in, std::string statement)
{
    auto found = co_await list(in, std::move(statement));
    co_return found;
}

/// A keyspace that outlives its call.
struct kept_keyspace {
    explicit kept_keyspace(const index_keyspace& of)
        : bucket{of.bucket}, scope{of.scope}, collection{of.collection}
    {
    }
    index_keyspace view() const { return {bucket, scope, collection}; }

    std::string bucket, scope, collection;
};

bool is_in(const query_index& which, const index_keyspace& keyspace)
{
    return which.scope == keyspace.scope && which.collection == keyspace.collection;
}

asio::awaitable<result<std::vector<std::string>>> build_all(index_call in, kept_keyspace of,
                                                            std::string statement)
{
    auto found = co_await list(in, std::move(statement));
    if (!found)
        co_return std::move(found).error();
    std::vector<std::string> deferred;
    for (const query_index& one : *found) {
        if (one.state == "deferred" && is_in(one, of.view()))
            deferred.push_back(one.name);
    }
    if (deferred.empty())
        co_return deferred;
    auto build = core_cb::build_indexes(of.view(), deferred);
    if (!build)
        co_return std::move(build).error();
    auto done = co_await change(in, *std::move(build), std::nullopt);
    if (!done)
        co_return std::move(done).error();
    co_return deferred;
}

/// The first of the names that is not online yet; errc::index_not_found if there is none.
result<const query_index*> not_online(const std::vector<query_index>& all,
                                      const std::vector<std::string>& names)
{
    const query_index* waits_for = nullptr;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(all, name, &query_index::name);
        if (found == all.end())
            return error{errc::index_not_found, "there is no index \"" + name + '"'};
        if (found->state != "online" && waits_for == nullptr)
            waits_for = &*found;
    }
    return waits_for;
}

asio::awaitable<result<void>> wait_until_online(index_call in, std::vector<std::string> names,
                                                std::string statement)
{
    constexpr duration longest_pause = 1s;
    duration wait = 50ms;
    for (;;) {
        auto found = co_await list(in, statement);
        if (!found)
            co_return std::move(found).error();
        const auto waits_for = not_online(*found, names);
        if (!waits_for)
            co_return waits_for.error();
        if (*waits_for == nullptr)
            co_return result<void>{};
        const shell::pause_end paused = co_await shell::pause(in.world(), wait, in.until(),
                                                              &in.closing());
        if (paused == shell::pause_end::cancelled)
            co_return error{errc::request_canceled, "cancelled while indexes were watched"};
        if (paused == shell::pause_end::deadline_came)
            co_return error{errc::unambiguous_timeout, "index \"" + (*waits_for)->name +
                                                           "\" is not online in time: it is " +
                                                           (*waits_for)->state};
        wait = std::min<duration>(wait + 500ms, longest_pause);
    }
}

template <class Call>
index_call call_of(const std::shared_ptr<cluster_impl>& in, const Call& call)
{
    return index_call{in, admin_terms{call.options}};
}

std::optional<errc> unless(bool ignored, errc what)
{
    return ignored ? std::optional{what} : std::nullopt;
}

template <class Call>
asio::awaitable<result<void>> begin_change(const std::shared_ptr<cluster_impl>& in,
                                           const Call& call, result<std::string> statement,
                                           std::optional<errc> meaningless)
{
    if (!statement)
        return details::not_begun<void>(std::move(statement).error());
    return change(call_of(in, call), *std::move(statement), meaningless);
}

}  // namespace

asio::awaitable<result<void>> begin(const std::shared_ptr<cluster_impl>& in,
                                    const create_index& call)
{
    return begin_change(in, call,
                        core_cb::create_index(call.in, call.name, call.keys, call.settings),
                        unless(call.settings.ignore_if_exists, errc::index_exists));
}

asio::awaitable<result<void>> begin(const std::shared_ptr<cluster_impl>& in,
                                    const create_primary_index& call)
{
    return begin_change(in, call, core_cb::create_primary_index(call.in, call.settings),
                        unless(call.settings.ignore_if_exists, errc::index_exists));
}

asio::awaitable<result<void>> begin(const std::shared_ptr<cluster_impl>& in, const drop_index& call)
{
    return begin_change(in, call, core_cb::drop_index(call.in, call.name),
                        unless(call.settings.ignore_if_missing, errc::index_not_found));
}

asio::awaitable<result<void>> begin(const std::shared_ptr<cluster_impl>& in,
                                    const drop_primary_index& call)
{
    return begin_change(in, call, core_cb::drop_primary_index(call.in, call.settings),
                        unless(call.settings.ignore_if_missing, errc::index_not_found));
}

asio::awaitable<result<std::vector<query_index>>> begin(const std::shared_ptr<cluster_impl>& in,
                                                        const get_all_indexes& call)
{
    auto statement = core_cb::get_all_indexes(call.in);
    if (!statement)
        return details::not_begun<std::vector<query_index>>(std::move(statement).error());
    return list_once(call_of(in, call), *std::move(statement));
}

asio::awaitable<result<std::vector<std::string>>> begin(const std::shared_ptr<cluster_impl>& in,
                                                        const build_deferred_indexes& call)
{
    auto statement = core_cb::get_all_indexes(call.in);
    if (!statement)
        return details::not_begun<std::vector<std::string>>(std::move(statement).error());
    return build_all(call_of(in, call), kept_keyspace{call.in}, *std::move(statement));
}

asio::awaitable<result<void>> begin(const std::shared_ptr<cluster_impl>& in,
                                    const watch_indexes& call)
{
    auto statement = core_cb::get_all_indexes(call.in);
    if (!statement)
        return details::not_begun<void>(std::move(statement).error());
    return wait_until_online(call_of(in, call), {call.names.begin(), call.names.end()},
                             *std::move(statement));
}

}  // namespace calls

namespace details {

template struct admin_starter<calls::create_index>;
template struct admin_starter<calls::create_primary_index>;
template struct admin_starter<calls::drop_index>;
template struct admin_starter<calls::drop_primary_index>;
template struct admin_starter<calls::get_all_indexes>;
template struct admin_starter<calls::build_deferred_indexes>;
template struct admin_starter<calls::watch_indexes>;

}  // namespace details

}  // namespace holdfast::couchbase
