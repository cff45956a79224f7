#include "tools/holdfast/drill/worker.hpp"

#include "holdfast/bson/builder.hpp"
#include "holdfast/mongo/error.hpp"
#include "runtime/wait.hpp"

#include <memory>
#include <utility>

namespace holdfast::drill {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

constexpr std::int64_t tokens_of_a_client = 1'000'000'000;
constexpr std::size_t signatures_of_a_page = 64;  // of one client
constexpr std::size_t signatures_of_a_shared_page = 16;  // of each client
constexpr std::size_t documents_of_insert_many = 3;
constexpr std::size_t most_repeats = 40;
constexpr duration pause_between_repeats = 50ms;

/// Out of ten.
constexpr std::array<action, 10> mix{
    action::insert_one,          action::insert_one,         action::update_one, action::update_one,
    action::update_one,          action::insert_many,        action::bulk_write, action::delete_one,
    action::find_one_and_update, action::find_one_and_update};

/// An operation with a callback, for somebody who waits. Counts how often it is called.
template <class T>
struct pending {
    explicit pending(runtime::world& in) : ended{in} {}

    std::optional<result<T>> outcome = {};
    runtime::event ended;
};

template <class T>
auto callback(const std::shared_ptr<pending<T>>& state, operation& one)
{
    return [state, &one](result<T> outcome) {
        ++one.completions;
        state->outcome.emplace(std::move(outcome));
        state->ended.notify();
    };
}

template <class T>
awaitable<result<T>> outcome_of(std::shared_ptr<pending<T>> state)
{
    for (;;) {
        const std::uint64_t seen = state->ended.count();
        if (state->outcome)
            co_return *std::move(state->outcome);
        const auto end = co_await state->ended.wait(seen);
        (void)end;
    }
}

/// For the outcome of an operation that nobody looks at any closer.
template <class T>
std::optional<error> failure_in(result<T>&& outcome)
{
    if (outcome)
        return std::nullopt;
    return std::move(outcome).error();
}

}  // namespace

fate fate_of(const error& why) noexcept
{
    if (mongo::may_have_been_applied(why))
        return fate::unclear;
    const mongo::write_failure* const writes = mongo::write_failure_of(why);
    if (!writes)
        return fate::failed;
    // Some of it was done, or done less safely than was asked for.
    const auto& partly = writes->partial_result;
    const bool some = partly && partly->inserted_count + partly->matched_count +
                                        partly->modified_count + partly->deleted_count +
                                        partly->upserted_count >
                                    0;
    return some || !writes->write_concern_errors.empty() ? fate::unclear : fate::failed;
}

void note_parts(operation& one, const error& why)
{
    const mongo::write_failure* const writes = mongo::write_failure_of(why);
    if (!writes || !writes->partial_result || !writes->write_concern_errors.empty())
        return;
    const mongo::bulk_write_result& done = *writes->partial_result;
    const fate rest = mongo::may_have_been_applied(why) ? fate::unclear : fate::failed;
    const auto asked = static_cast<std::int64_t>(one.inserted.size());
    if (done.inserted_count == asked && asked > 0)
        one.end_of_inserts = fate::acknowledged;
    else if (done.inserted_count == 0)
        one.end_of_inserts = rest;
    if (one.signature && done.matched_count + done.upserted_count == 0)
        one.end_of_signature = rest;
}

void note_count(operation& one, const std::optional<bson::document>& after)
{
    if (after)
        one.reported_count = after->get<std::int64_t>("n").value_or(-1);
}

void note_deletion(operation& one, std::int64_t deleted, bool repeated)
{
    one.found_nothing = deleted == 0 && !repeated;
}

std::string reason_of(const error& why)
{
    std::string made{mongo::name_of(mongo::kind_of(why))};
    const std::string_view code = mongo::server_code_name(why);
    if (!code.empty())
        made.append(": ").append(code);
    else if (const auto number = mongo::server_code(why); number)
        made.append(": ").append(std::to_string(*number));
    return made;
}

worker::worker(runtime::world& in, mongo::client with, work_options options, storm_progress& shared)
    : world_{in},
      client_{std::move(with)},
      documents_{client_[options.database][options.collection]},
      options_{std::move(options)},
      shared_{shared},
      chance_{options_.seed * 0x9e3779b97f4a7c15U + options_.client}
{
}

/// splitmix64: chance that is the same everywhere, and the worker's own.
std::uint64_t worker::draw(std::uint64_t below)
{
    std::uint64_t x = chance_ += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return (x ^ (x >> 31U)) % below;
}

token worker::next_token()
{
    return static_cast<std::int64_t>(options_.client) * tokens_of_a_client + ++tokens_;
}

action worker::choose()
{
    const action drawn = mix[draw(mix.size())];
    return drawn == action::delete_one && deletable_.empty() ? action::insert_one : drawn;
}

void worker::sign(operation& one)
{
    one.signature = next_token();
    one.page = "page " + std::to_string(options_.client) + '.' +
               std::to_string(signatures_++ / signatures_of_a_page);
}

void worker::sign_shared(operation& one)
{
    one.signature = next_token();
    one.page = "shared page " + std::to_string(shared_signatures_++ / signatures_of_a_shared_page);
}

/// What the write is to do. Nothing is asked of a server yet.
void worker::plan(operation& one)
{
    one.what = choose();
    one.client = options_.client;
    one.scene = shared_.scene;
    switch (one.what) {
    case action::insert_one:
        one.inserted.push_back(next_token());
        break;
    case action::insert_many:
        for (std::size_t n = 0; n < documents_of_insert_many; ++n)
            one.inserted.push_back(next_token());
        break;
    case action::update_one:
        sign(one);
        break;
    case action::find_one_and_update:
        sign_shared(one);
        break;
    case action::bulk_write:
        one.inserted.push_back(next_token());
        sign(one);
        break;
    case action::delete_one: {
        const std::size_t at = draw(deletable_.size());
        one.removed = deletable_[at];
        deletable_[at] = deletable_.back();
        deletable_.pop_back();
        break;
    }
    }
}

bson::document worker::signed_change(const operation& one) const
{
    return bson::doc("$inc", bson::object("n", std::int64_t{1}), "$push",
                     bson::object("s", one.signature.value_or(0)));
}

bson::document worker::signed_filter(const operation& one) const
{
    return bson::doc("_id", one.page);
}

awaitable<void> worker::run()
{
    std::size_t left = 1 + draw(options_.burst);
    while (!shared_.stop) {
        operation& one = history_.emplace_back();
        plan(one);
        co_await carry_out(one);
        if (--left > 0)
            continue;
        left = options_.burst;
        if (options_.pause > duration::zero()) {
            const auto pause = options_.pause / 2 +
                               duration{static_cast<duration::rep>(
                                   draw(static_cast<std::uint64_t>(options_.pause.count())))};
            co_await runtime::sleep_until(world_, world_.steady_now() + pause);
        }
    }
    --shared_.working;
}

awaitable<void> worker::carry_out(operation& one)
{
    repeats_ = 0;
    one.began = world_.steady_now();
    if (options_.bound && !options_.repeats_by_itself)
        one.deadline = one.began + *options_.bound;
    failure_or_none failed = co_await perform(one);
    bool unclear = failed && fate_of(*failed) == fate::unclear;
    while (options_.repeats_by_itself && failed && repeats_ < most_repeats) {
        ++repeats_;
        ++shared_.repeats;
        co_await runtime::sleep_until(world_, world_.steady_now() + pause_between_repeats);
        failed = co_await perform(one);
        unclear = unclear || (failed && fate_of(*failed) == fate::unclear);
    }
    if (repeats_ > 0)
        one.completions = 1;  // of the application's own operation, that is
    one.ended = world_.steady_now();
    ++shared_.operations;
    if (failed) {
        one.end = unclear ? fate::unclear : fate::failed;
        one.why = reason_of(*failed);
        if (repeats_ == 0)
            note_parts(one, *failed);
        ++shared_.failed;
        co_return;
    }
    one.end = fate::acknowledged;
    ++shared_.acknowledged;
    // What may be there twice is left alone: deleting one of the two would hide it.
    if (one.what == action::insert_one && repeats_ == 0)
        deletable_.push_back(one.inserted.front());
}

awaitable<worker::failure_or_none> worker::perform(operation& one)
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
        break;
    }
    return delete_one(one);
}

// No document gets an _id from here: the library makes one for each call, and keeps it when it
// repeats the write. An application that calls again inserts another document.

awaitable<worker::failure_or_none> worker::insert_one(operation& one)
{
    const bson::document document = bson::doc("t", one.inserted.front());
    mongo::insert_one_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    auto done = co_await documents_.insert_one(document.view(), options, boost::asio::use_awaitable);
    ++one.completions;
    co_return failure_in(std::move(done));
}

awaitable<worker::failure_or_none> worker::insert_many(operation& one)
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

awaitable<worker::failure_or_none> worker::update_one(operation& one)
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

awaitable<worker::failure_or_none> worker::find_one_and_update(operation& one)
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

awaitable<worker::failure_or_none> worker::bulk_write(operation& one)
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
    auto done = co_await documents_.bulk_write(std::move(work), options, boost::asio::use_awaitable);
    ++one.completions;
    co_return failure_in(std::move(done));
}

awaitable<worker::failure_or_none> worker::delete_one(operation& one)
{
    const bson::document filter = bson::doc("t", one.removed.value_or(0));
    mongo::delete_options options;
    options.timeout = options_.timeout;
    options.write_concern = options_.concern;
    auto done = co_await documents_.delete_one(filter.view(), options, boost::asio::use_awaitable);
    ++one.completions;
    if (done)
        note_deletion(one, done->deleted_count, repeats_ > 0);
    co_return failure_in(std::move(done));
}

}  // namespace holdfast::drill
