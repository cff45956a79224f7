#include "tools/holdfast/drill/mongo/client.hpp"

#include "holdfast/bson/builder.hpp"
#include "tools/holdfast/drill/completion.hpp"
#include "tools/holdfast/drill/mongo/outcome.hpp"
#include "tools/holdfast/drill/mongo/read_back.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::drill {

using runtime::awaitable;

namespace {

bson::document signed_change(const operation& one)
{
    return bson::doc("$inc", bson::object("n", std::int64_t{1}), "$push",
                     bson::object("s", one.signature.value_or(0)));
}

bson::document signed_filter(const operation& one)
{
    return bson::doc("_id", one.page);
}

}  // namespace

mongo_client::mongo_client(runtime::world& in, mongo::client with, mongo_client_options options)
    : world_{in},
      client_{std::move(with)},
      documents_{client_[options.database][options.collection]},
      options_{std::move(options)}
{
}

awaitable<write_outcome> mongo_client::write(operation& one, bool repeated)
{
    const failure_or_none failed = co_await perform(one, repeated);
    write_outcome made;
    if (failed) {
        made.end = fate_of(*failed);
        made.reason = reason_of(*failed);
        note_parts(one, *failed);
    }
    co_return made;
}

awaitable<result<void>> mongo_client::prepare()
{
    return drill::prepare(documents_);
}

awaitable<result<found_state>> mongo_client::read_all(time_point until)
{
    return drill::read_back(world_, documents_, until);
}

awaitable<result<void>> mongo_client::remove_all()
{
    return documents_.drop({}, boost::asio::use_awaitable);
}

awaitable<void> mongo_client::close()
{
    co_await client_.close();
}

awaitable<mongo_client::failure_or_none> mongo_client::perform(operation& one, bool repeated)
{
    switch (one.what) {
    case action::insert_one:
        return insert_one(one);
    case action::insert_many:
        return insert_many(one);
    case action::update_one:
        return update_one(one);
    case action::find_one_and_update:
        return find_one_and_update(one);
    case action::bulk_write:
        return bulk_write(one);
    case action::delete_one:
    case action::increment:
    case action::compare_and_swap:
    case action::upsert:
    case action::get:
        break;  // the others are not in the mix
    }
    return delete_one(one, repeated);
}

// No document gets an _id from here: the library makes one for each call, and keeps it when it
// repeats the write. An application that calls again inserts another document.

awaitable<mongo_client::failure_or_none> mongo_client::insert_one(operation& one)
{
    const bson::document document = bson::doc("t", one.inserted.front());
    mongo::insert_one_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    auto done = co_await documents_.insert_one(document.view(), options,
                                               boost::asio::use_awaitable);
    ++one.completions;
    co_return failure_in(std::move(done));
}

awaitable<mongo_client::failure_or_none> mongo_client::insert_many(operation& one)
{
    std::vector<bson::document> documents;
    for (const token which : one.inserted)
        documents.push_back(bson::doc("t", which));
    mongo::insert_many_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    auto done = co_await documents_.insert_many(documents, options, boost::asio::use_awaitable);
    ++one.completions;
    co_return failure_in(std::move(done));
}

awaitable<mongo_client::failure_or_none> mongo_client::update_one(operation& one)
{
    const bson::document filter = signed_filter(one);
    const bson::document change = signed_change(one);
    mongo::update_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    options.upsert = true;
    const auto state = std::make_shared<pending<mongo::update_result>>(world_);
    documents_.update_one(filter, change, options, callback(state, one));
    auto done = co_await outcome_of(state);
    co_return failure_in(std::move(done));
}

awaitable<mongo_client::failure_or_none> mongo_client::find_one_and_update(operation& one)
{
    const bson::document filter = signed_filter(one);
    const bson::document change = signed_change(one);
    const bson::document count_alone = bson::doc("n", 1);
    mongo::find_and_modify_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    options.upsert = true;
    options.projection = count_alone.view();
    options.returns = mongo::return_document::after;
    const auto state = std::make_shared<pending<std::optional<bson::document>>>(world_);
    documents_.find_one_and_update(filter, change, options, callback(state, one));
    auto done = co_await outcome_of(state);
    if (!done)
        co_return failure_in(std::move(done));
    note_count(one, *done);
    co_return std::nullopt;
}

awaitable<mongo_client::failure_or_none> mongo_client::bulk_write(operation& one)
{
    const bson::document document = bson::doc("t", one.inserted.front());
    const bson::document filter = signed_filter(one);
    const bson::document change = signed_change(one);
    mongo::update_model_options upsert;
    upsert.upsert = true;
    mongo::bulk_writes work;
    work.insert_one(document.view()).update_one(filter, change, upsert);
    mongo::bulk_write_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    auto done = co_await documents_.bulk_write(std::move(work), options,
                                               boost::asio::use_awaitable);
    ++one.completions;
    co_return failure_in(std::move(done));
}

awaitable<mongo_client::failure_or_none> mongo_client::delete_one(operation& one, bool repeated)
{
    const bson::document filter = bson::doc("t", one.removed.value_or(0));
    mongo::delete_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    auto done = co_await documents_.delete_one(filter.view(), options, boost::asio::use_awaitable);
    ++one.completions;
    if (done)
        note_deletion(one, done->deleted_count, repeated);
    co_return failure_in(std::move(done));
}

}  // namespace holdfast::drill
