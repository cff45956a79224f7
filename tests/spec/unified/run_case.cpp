#include "errors.hpp"
#include "operations.hpp"
#include "run.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::spec::unified {

using namespace std::chrono_literals;

namespace {

/// What a case may take, virtual or real; nothing in the official files needs more than a part of
/// it.
constexpr duration limit = 60s;
constexpr duration limit_of_closing = 20s;

/// Shared by the coroutine of a case and its caller.
struct case_state {
    outcome came = passed{};
    std::string at = "the initial data";  // what it is doing, if it does not end
};

template <class T>
std::vector<std::shared_ptr<T>> all_of(const context& in)
{
    std::vector<std::shared_ptr<T>> found;
    for (const entity& one : in.named.all()) {
        if (const auto* const right = std::get_if<std::shared_ptr<T>>(&one))
            found.push_back(*right);
    }
    return found;
}

std::vector<std::shared_ptr<client_entity>> clients_of(const context& in)
{
    return all_of<client_entity>(in);
}

std::vector<std::shared_ptr<thread_entity>> threads_of(const context& in)
{
    return all_of<thread_entity>(in);
}

void stop_listening(const context& in)
{
    for (const auto& one : clients_of(in)) {
        one->events->stop();
        one->messages->stop();
    }
}

void check_reported(const context& in, const unified_case& one)
{
    for (const expected_events& all : one.expect_events)
        check_events(all, *in.named.get<client_entity>(all.client).events, in.rules);
    for (const expected_messages& all : one.expect_messages) {
        const client_entity& by = in.named.get<client_entity>(all.client);
        std::vector<std::string> received = in.reported_errors;
        std::ranges::move(by.events->open_failures(), std::back_inserter(received));
        check_messages(all, *by.messages, in.rules, received);
    }
}

/// Not by the rules of results: all must be the same, but for the order of keys.
bool same(bson::view one, bson::view other);

bool same(const bson::element& one, const bson::element& other)
{
    if (one.type() != other.type())
        return false;
    if (one.type() == bson::type::document || one.type() == bson::type::array)
        return same(one.as_document(), other.as_document());
    return std::ranges::equal(one.value_bytes(), other.value_bytes());
}

bool same(bson::view one, bson::view other)
{
    const auto count = [](bson::view of) { return std::ranges::distance(of.begin(), of.end()); };
    if (count(one) != count(other))
        return false;
    return std::ranges::all_of(one.begin(), one.end(), [&](const bson::element& field) {
        return same(field, other.find(field.key()));
    });
}

runtime::awaitable<void> check_data(std::shared_ptr<context> in, const collection_data& expected)
{
    const auto found = co_await in->lab.contents(expected.database, expected.collection);
    const std::string where = "the collection " + std::string{expected.collection};
    demand(found.size() == expected.documents.size(),
           where + " has " + std::to_string(found.size()) + " documents instead of " +
               std::to_string(expected.documents.size()));
    for (std::size_t n = 0; n < found.size(); ++n) {
        demand(same(found[n].view(), expected.documents[n]),
               where + ", document " + std::to_string(n) + ": " + shown(found[n].view()) +
                   " instead of " + shown(expected.documents[n]));
    }
}

runtime::awaitable<void> carry_out(std::shared_ptr<context> in, const unified_file& file,
                                   const unified_case& one, std::shared_ptr<case_state> received)
{
    for (const entity_description& each : file.create_entities) {
        received->at = "the entity " + std::string{each.id};
        co_await make_entity(in, each);
    }
    int number = 0;
    for (const operation& each : one.operations) {
        received->at = "operation " + std::to_string(number++) + " (" + std::string{each.name} +
                       ")";
        co_await execute(in, each);
    }
    received->at = "the threads that were not waited for";
    for (const auto& each : threads_of(*in))
        co_await end_thread(in, each);
    stop_listening(*in);
    received->at = "the fail points";
    co_await in->lab.clean();
    received->at = "the events and log messages";
    check_reported(*in, one);
    received->at = "the outcome";
    for (const collection_data& each : one.outcome)
        co_await check_data(in, each);
}

/// The case itself; what it throws is what it came to.
runtime::awaitable<void> attempt(std::shared_ptr<context> in, const unified_file& file,
                                 const unified_case& one, std::shared_ptr<case_state> received)
{
    try {
        co_await in->lab.prepare(file);
        co_await carry_out(in, file, one, received);
    } catch (const case_skipped& why) {
        received->came = skipped{why.what()};
    } catch (const std::exception& why) {
        received->came = failed{received->at + ": " + why.what()};
    }
}

/// Fail points are off and clients closed, whatever happened.
runtime::awaitable<void> tidy_up(std::shared_ptr<context> in)
{
    stop_listening(*in);
    try {
        co_await in->lab.clean();
    } catch (const std::exception&) {
        in->lab.broken = true;
    }
    for (const auto& one : threads_of(*in)) {
        one->closing = true;
        one->news.notify();
    }
    for (const auto& one : clients_of(*in))
        co_await one->api.close();
}

std::string state_of(const context& in)
{
    std::string made;
    for (const auto& one : clients_of(in))
        made += "\n" + one->api.dump_state();
    return made;
}

}  // namespace

outcome run_case(running_lab& on, const unified_file& file, const unified_case& one,
                 const settings& options)
{
    const auto in = std::make_shared<context>(on, options);
    const auto received = std::make_shared<case_state>();
    const bool ended = on.servers().run(attempt(in, file, one, received), limit);
    if (!ended)
        received->came = failed{"does not end: it hangs at " + received->at + state_of(*in)};
    const bool tidy = on.servers().run(tidy_up(in), limit_of_closing);
    if (!tidy && ended)
        received->came = failed{"does not end: its clients do not close" + state_of(*in)};
    if (!ended || !tidy)
        on.broken = true;
    return received->came;
}

outcome decided(outcome came, expectation expected)
{
    if (expected == expectation::pass || std::holds_alternative<skipped>(came))
        return came;
    const bool refused = std::holds_alternative<failed>(came);
    if (refused)
        return passed{};
    return failed{expected == expectation::fail ? "passed, though it must fail"
                                                : "was taken, though it is no valid file"};
}

}  // namespace holdfast::spec::unified
