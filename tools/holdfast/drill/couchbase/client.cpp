#include "tools/holdfast/drill/couchbase/client.hpp"

#include "tools/holdfast/drill/completion.hpp"
#include "tools/holdfast/drill/couchbase/contents.hpp"
#include "tools/holdfast/drill/couchbase/outcome.hpp"
#include "tools/holdfast/drill/couchbase/read_back.hpp"

#include <utility>

namespace holdfast::drill {

using couchbase::errc;
using runtime::awaitable;

namespace {

using std::chrono::milliseconds;

couchbase::durability level_of(const operation& one)
{
    return one.durable ? couchbase::durability::majority : couchbase::durability::none;
}

}  // namespace

couchbase_client::couchbase_client(runtime::world& in, couchbase::cluster with,
                                   couchbase_client_options options)
    : world_{in},
      cluster_{std::move(with)},
      documents_{cluster_[options.bucket].default_collection()},
      options_{std::move(options)}
{
}

std::string couchbase_client::key_of(std::string_view name) const
{
    return options_.prefix + std::string{name};
}

awaitable<write_outcome> couchbase_client::write(operation& one, bool repeated)
{
    const failure_or_none failed = co_await perform(one, repeated);
    write_outcome made;
    if (failed) {
        made.end = couchbase_fate_of(*failed);
        made.reason = couchbase_reason_of(*failed);
    }
    co_return made;
}

awaitable<result<void>> couchbase_client::prepare()
{
    // Whether the bucket can be used for what the workload does: written, and durably.
    const std::string key = key_of("mark");
    const marked_value content{key, 0};
    couchbase::upsert_options options;
    options.timeout = milliseconds{10'000};
    options.durability = couchbase::durability::majority;
    auto done = co_await documents_.upsert(key, content, options, boost::asio::use_awaitable);
    if (!done)
        co_return std::move(done).error();
    co_return result<void>{};
}

awaitable<result<found_state>> couchbase_client::read_all(time_point until)
{
    return read_written(world_, documents_, options_.prefix, *options_.written, until);
}

awaitable<result<void>> couchbase_client::remove_all()
{
    std::vector<std::string> names{"mark"};
    for (const token which : options_.written->documents)
        names.push_back("document " + std::to_string(which));
    for (const auto* const some :
         {&options_.written->pages, &options_.written->counters, &options_.written->records})
        names.insert(names.end(), some->begin(), some->end());
    for (const std::string& name : names) {
        const std::string key = key_of(name);
        couchbase::remove_options options;
        options.timeout = options_.timeout;
        const auto done = co_await documents_.remove(key, options, boost::asio::use_awaitable);
        if (!done && !is(done.error(), errc::document_not_found))
            co_return done.error();
    }
    co_return result<void>{};
}

awaitable<void> couchbase_client::close()
{
    co_await cluster_.close();
}

awaitable<couchbase_client::failure_or_none> couchbase_client::perform(operation& one,
                                                                       bool repeated)
{
    switch (one.what) {
    case action::increment:
        return increment(one);
    case action::compare_and_swap:
        return compare_and_swap(one);
    case action::upsert:
        return upsert(one);
    case action::get:
        return get(one);
    case action::insert_one:
    case action::insert_many:
    case action::update_one:
    case action::find_one_and_update:
    case action::bulk_write:
    case action::delete_one:
        break;
    }
    return insert(one, repeated);
}

awaitable<couchbase_client::failure_or_none> couchbase_client::insert(operation& one, bool repeated)
{
    const token which = one.inserted.front();
    options_.written->documents.insert(which);
    const std::string key = key_of("document " + std::to_string(which));
    const marked_value content{key, which};
    couchbase::insert_options options;
    options.timeout = options_.timeout;
    options.durability = level_of(one);
    const auto state = std::make_shared<pending<couchbase::mutation_result>>(world_);
    documents_.insert(key, content, options, callback(state, one));
    auto done = co_await outcome_of(state);
    const bool is_there = !done && is(done.error(), errc::document_exists);
    if (is_there && repeated)
        co_return std::nullopt;  // for the application the first call has done it
    if (is_there)
        one.reply_defect = "a document of a key that is used once was there already";
    co_return failure_in(std::move(done));
}

awaitable<couchbase_client::failure_or_none> couchbase_client::increment(operation& one)
{
    options_.written->counters.insert(one.counter);
    const std::string key = key_of(one.counter);
    couchbase::counter_options options;
    options.timeout = options_.timeout;
    options.durability = level_of(one);
    options.initial = 1;
    const auto state = std::make_shared<pending<couchbase::counter_result>>(world_);
    documents_.increment(key, options, callback(state, one));
    auto done = co_await outcome_of(state);
    if (!done)
        co_return failure_in(std::move(done));
    one.reported_count = static_cast<std::int64_t>(done->value);
    co_return std::nullopt;
}

/// Reads, adds and replaces until no other client comes between.
awaitable<couchbase_client::failure_or_none> couchbase_client::compare_and_swap(operation& one)
{
    options_.written->pages.insert(one.page);
    const time_point until = world_.steady_now() + options_.timeout;
    for (;;) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - world_.steady_now());
        failure_or_none failed = co_await try_swap(one, left);
        const bool another_was_first = failed && (is(*failed, errc::cas_mismatch) ||
                                                  is(*failed, errc::document_exists));
        if (another_was_first && world_.steady_now() < until)
            continue;
        ++one.completions;
        co_return failed;
    }
}

awaitable<couchbase_client::failure_or_none> couchbase_client::try_swap(operation& one,
                                                                        milliseconds left)
{
    const std::string key = key_of(one.page);
    couchbase::get_options reading;
    reading.timeout = left;
    const time_point until = world_.steady_now() + left;
    const auto there = co_await documents_.get<marked_list>(key, reading,
                                                            boost::asio::use_awaitable);
    if (!there && !is(there.error(), errc::document_not_found))
        co_return there.error();
    marked_list next{key, {}};
    if (there)
        next.s = there->content.s;
    if (there && there->content.k != key)
        one.reply_defect = "the content of " + there->content.k + " was read from " + key;
    next.s.push_back(*one.signature);
    one.reported_count = static_cast<std::int64_t>(next.s.size());
    left = std::chrono::duration_cast<milliseconds>(until - world_.steady_now());
    if (!there) {
        couchbase::insert_options options;
        options.timeout = left;
        options.durability = level_of(one);
        auto done = co_await documents_.insert(key, next, options, boost::asio::use_awaitable);
        co_return failure_in(std::move(done));
    }
    couchbase::replace_options options;
    options.timeout = left;
    options.cas = there->cas;
    options.durability = level_of(one);
    auto done = co_await documents_.replace(key, next, options, boost::asio::use_awaitable);
    co_return failure_in(std::move(done));
}

awaitable<couchbase_client::failure_or_none> couchbase_client::upsert(operation& one)
{
    options_.written->records.insert(one.record);
    const std::string key = key_of(one.record);
    const marked_value content{key, *one.stored};
    couchbase::upsert_options options;
    options.timeout = options_.timeout;
    options.durability = level_of(one);
    const auto state = std::make_shared<pending<couchbase::mutation_result>>(world_);
    documents_.upsert(key, content, options, callback(state, one));
    auto done = co_await outcome_of(state);
    co_return failure_in(std::move(done));
}

awaitable<couchbase_client::failure_or_none> couchbase_client::get(operation& one)
{
    const std::string key = key_of(one.record);
    couchbase::get_options options;
    options.timeout = options_.timeout;
    auto found = co_await documents_.get<marked_value>(key, options, boost::asio::use_awaitable);
    ++one.completions;
    if (!found) {
        if (is(found.error(), errc::document_not_found))
            co_return std::nullopt;
        if (is(found.error(), errc::decoding_failure))
            one.reply_defect = "what was read from " + key + " is something else";
        co_return failure_in(std::move(found));
    }
    if (found->content.k != key)
        one.reply_defect = "the content of " + found->content.k + " was read from " + key;
    else
        one.read = found->content.t;
    co_return std::nullopt;
}

}  // namespace holdfast::drill
