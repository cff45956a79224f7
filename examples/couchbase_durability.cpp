// Writes that survive the loss of a node, reads of any copy, and what to do with errors: which say
// that nothing happened, and which leave a doubt.
#include <holdfast/couchbase/cluster.hpp>
#include <holdfast/lab/couchbase.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;

namespace {

struct order {
    std::string customer;
    int total = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (customer, total))

enum class write_outcome { applied, not_applied, unknown };

/// What is known about a change that ended with this error.
write_outcome outcome_of(const hf::error& failed)
{
    if (failed.context("may_have_been_applied") == "true")
        return write_outcome::unknown;
    return write_outcome::not_applied;
}

/// Stores an order exactly once, also if the answer to the first try was lost.
asio::awaitable<write_outcome> place(cb::collection orders, std::string id, order what)
{
    const auto stored = co_await orders.insert(id, what, {.durability = cb::durability::majority},
                                               asio::use_awaitable);
    if (stored)
        co_return write_outcome::applied;
    if (outcome_of(stored.error()) == write_outcome::not_applied)
        co_return write_outcome::not_applied;
    // In doubt. The id is ours alone: if the order is there, it was this insert that stored it.
    const auto there = co_await orders.exists(id, {}, asio::use_awaitable);
    if (!there)
        co_return write_outcome::unknown;
    co_return there->exists ? write_outcome::applied : write_outcome::not_applied;
}

asio::awaitable<void> durable_writes(cb::collection orders)
{
    const order first{"ada", 120};
    const write_outcome placed = co_await place(orders, "order_1", first);
    std::cout << (placed == write_outcome::applied ? "placed\n" : "not placed\n");

    co_await orders.upsert("order_2", first, {.durability = cb::durability::persist_to_majority});
    const cb::changes edit{cb::increment("total", 5)};
    co_await orders.mutate_in("order_2", edit,
                              {.durability = cb::durability::majority_and_persist_to_active});
}

asio::awaitable<void> copies(cb::collection orders)
{
    const auto any = co_await orders.get_any_replica<order>("order_2", {.timeout = 500ms});
    std::cout << any.content.total << (any.is_replica ? " from a replica\n" : "\n");
    const auto all = co_await orders.get_all_replicas<order>("order_2");
    for (const auto& one : all)
        std::cout << (one.is_replica ? "replica: " : "active: ") << one.content.total << '\n';

    const auto none = co_await orders.get_any_replica("order_3", {}, asio::use_awaitable);
    if (!none && none.error().code() == cb::errc::document_irretrievable)
        std::cout << none.error().message() << '\n';
}

/// A strategy for one request: no retry at all, whatever the reason.
class never_again final : public cb::retry_strategy {
public:
    cb::retry_answer retry_after(const cb::retry_request&, cb::retry_reason) const override
    {
        return cb::retry_action::no_retry();
    }
};

asio::awaitable<void> errors(cb::collection orders)
{
    const auto locked = co_await orders.get_and_lock("order_1", 5s);
    const cb::retry_strategy_ptr once = std::make_shared<never_again>();
    const auto refused = co_await orders.remove("order_1", {.strategy = &once},
                                                asio::use_awaitable);
    if (!refused && refused.error().code() == cb::errc::document_locked)
        std::cout << refused.error().explain() << '\n';

    const auto late = co_await orders.remove("order_1", {.timeout = 50ms}, asio::use_awaitable);
    for (const hf::attempt& one : late.error().history())
        std::cout << one.server.value() << ": " << one.decision << '\n';
    co_await orders.unlock("order_1", locked.cas);

    try {
        co_await orders.replace("order_9", locked.content);
    } catch (const hf::failure& failed) {
        std::cout << failed.error().summary() << '\n';
    }
}

asio::awaitable<void> tour(cb::cluster db)
{
    const auto orders = db["shop"].default_collection();
    co_await durable_writes(orders);
    co_await copies(orders);
    co_await errors(orders);
    co_await db.close();
}

}  // namespace

int main()
{
    const auto lab = hf::lab::couchbase_cluster::start({.nodes = 3, .buckets = {"shop"}}).value();
    cb::cluster_options options;
    options.authenticator = cb::password{"Administrator", hf::secret{"password"}};

    asio::io_context loop;
    int status = 0;
    asio::co_spawn(loop, tour(cb::cluster{loop.get_executor(), lab.uri(), options}),
                   [&](std::exception_ptr thrown) {
                       try {
                           if (thrown)
                               std::rethrow_exception(thrown);
                       } catch (const std::exception& failed) {
                           std::cout << failed.what() << '\n';
                           status = 1;
                       }
                   });
    loop.run();
    return status;
}
