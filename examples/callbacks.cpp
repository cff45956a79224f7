// Callbacks instead of coroutines, and an operation that its caller no longer wants: the server
// hangs, a timer cancels the write, and the error says whether it may have been applied.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/client.hpp>
#include <holdfast/mongo/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <iostream>
#include <utility>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace bson = holdfast::bson;
namespace mongo = holdfast::mongo;

namespace {

/// Lives until the loop has ended: its callbacks refer to it.
class program {
public:
    program(asio::io_context& loop, hf::lab::mongo_cluster& server)
        : loop_{loop}, server_{server}, timeout_{loop}, db_{loop.get_executor(), server.uri()}
    {
    }

    void start()
    {
        notes_.insert_one(bson::doc("_id", 1), {}, [this](hf::result<mongo::insert_one_result> r) {
            std::cout << (r ? "the first note is there" : r.error().explain()) << '\n';
            r ? hang() : finish();
        });
    }
    bool as_expected() const { return as_expected_; }

private:
    void hang()
    {
        server_.freeze(0).value();
        auto ended = [this](hf::result<mongo::insert_one_result> r) {
            as_expected_ = !r && mongo::kind_of(r.error()) == mongo::error_kind::cancelled &&
                           mongo::may_have_been_applied(r.error());
            std::cout << (r ? "it was not cancelled" : r.error().explain()) << '\n';
            server_.thaw(0).value();
            finish();
        };
        // The handler's slot is what cancels this operation, and nothing else of the client.
        notes_.insert_one(bson::doc("_id", 2), {},
                          asio::bind_cancellation_slot(stop_.slot(), std::move(ended)));
        timeout_.expires_after(std::chrono::milliseconds{200});
        timeout_.async_wait([this](auto) { stop_.emit(asio::cancellation_type::terminal); });
    }
    void finish() { asio::co_spawn(loop_, db_.close(), asio::detached); }

    asio::io_context& loop_;
    hf::lab::mongo_cluster& server_;
    asio::steady_timer timeout_;
    asio::cancellation_signal stop_;
    mongo::client db_;
    mongo::collection notes_ = db_["office"]["notes"];
    bool as_expected_ = false;
};

}  // namespace

int main()
try {
    auto server = hf::lab::mongo_cluster::start({.members = 1}).value();
    asio::io_context loop;
    program it{loop, server};
    it.start();
    loop.run();
    return it.as_expected() ? 0 : 1;
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
