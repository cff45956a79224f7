#include "tools/holdfast/drill/worker.hpp"

#include "runtime/wait.hpp"

#include <array>
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

constexpr std::uint64_t counters = 2;  // of each kind
constexpr std::uint64_t records_of_a_client = 3;

constexpr std::array<action, 10> mongo_actions{
    action::insert_one,          action::insert_one,         action::update_one, action::update_one,
    action::update_one,          action::insert_many,        action::bulk_write, action::delete_one,
    action::find_one_and_update, action::find_one_and_update};

constexpr std::array<action, 10> couchbase_actions{
    action::increment,        action::increment,  action::increment,  action::compare_and_swap,
    action::compare_and_swap, action::insert_one, action::insert_one, action::upsert,
    action::upsert,           action::get};

std::string kind_of(const operation& one)
{
    return one.durable ? "durable" : "loose";
}

}  // namespace

const work_mix mongo_mix{mongo_actions, false};
const work_mix couchbase_mix{couchbase_actions, true};

worker::worker(runtime::world& in, client_ptr with, work_options options, storm_progress& shared)
    : world_{in},
      client_{std::move(with)},
      options_{std::move(options)},
      shared_{shared},
      chance_{options_.seed * 0x9e3779b97f4a7c15U + options_.client}
{
}

/// splitmix64: the same numbers on every platform, from the worker's own seed.
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
    const action drawn = options_.mix.actions[draw(options_.mix.actions.size())];
    return drawn == action::delete_one && deletable_.empty() ? action::insert_one : drawn;
}

void worker::sign(operation& one)
{
    one.signature = next_token();
    one.page = "page " + std::to_string(options_.client) + '.' +
               std::to_string(signatures_++ / signatures_of_a_page);
}

void worker::sign_shared(operation& one, const std::string& kind, std::size_t& count)
{
    one.signature = next_token();
    one.page = kind + " page " + std::to_string(count++ / signatures_of_a_shared_page);
}

/// What the write is to do. Nothing is asked of a server yet.
void worker::plan(operation& one)
{
    one.what = choose();
    one.client = options_.client;
    one.scenario = shared_.scenario;
    one.durable = !options_.mix.mixes_durability || draw(2) == 0;
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
        sign_shared(one, "shared", shared_signatures_);
        break;
    case action::compare_and_swap:
        sign_shared(one, kind_of(one), one.durable ? swapped_signatures_ : loose_signatures_);
        break;
    case action::increment:
        one.counter = kind_of(one) + " counter " + std::to_string(draw(counters));
        break;
    case action::upsert:
        one.stored = next_token();
        [[fallthrough]];
    case action::get:
        one.record = kind_of(one) + " record " + std::to_string(options_.client) + '.' +
                     std::to_string(draw(records_of_a_client));
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
    one.began = world_.steady_now();
    if (options_.bound && !options_.repeats_by_itself)
        one.deadline = one.began + *options_.bound;
    write_outcome came = co_await client_->write(one, false);
    bool unclear = came.end == fate::unclear;
    std::size_t repeats = 0;
    while (options_.repeats_by_itself && came.end != fate::acknowledged && repeats < most_repeats) {
        ++repeats;
        ++shared_.repeats;
        co_await runtime::sleep_until(world_, world_.steady_now() + pause_between_repeats);
        came = co_await client_->write(one, true);
        unclear = unclear || came.end == fate::unclear;
    }
    if (repeats > 0) {
        one.completions = 1;  // of the application's own operation, that is
        one.end_of_inserts.reset();  // what one call reports is not all that the others did
        one.end_of_signature.reset();
    }
    one.ended = world_.steady_now();
    ++shared_.operations;
    if (came.end != fate::acknowledged) {
        one.end = unclear ? fate::unclear : fate::failed;
        one.reason = std::move(came.reason);
        ++shared_.failed;
        co_return;
    }
    one.end = fate::acknowledged;
    ++shared_.acknowledged;
    // What may be there twice is left alone: deleting one of the two would hide it.
    if (one.what == action::insert_one && repeats == 0)
        deletable_.push_back(one.inserted.front());
}

}  // namespace holdfast::drill
