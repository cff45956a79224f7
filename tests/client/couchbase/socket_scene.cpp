#include "client/couchbase/socket_scene.hpp"

#include <chrono>

namespace holdfast::proof {

using namespace std::chrono_literals;
using core::couchbase::kv_status;

namespace {

lab::couchbase_cluster start_lab(lab::couchbase_options what)
{
    if (what.buckets == lab::couchbase_options{}.buckets)
        what.buckets = {"travel"};
    what.user = "ada";
    what.password = "lovelace";
    return lab::couchbase_cluster::start(std::move(what)).value();
}

asio::awaitable<void> close_all(couchbase::cluster what, bool* closed)
{
    co_await what.close();
    *closed = true;
}

}  // namespace

socket_scene::socket_scene(lab::couchbase_options what) : lab{start_lab(std::move(what))} {}

socket_scene::~socket_scene()
{
    disconnect();
}

void socket_scene::disconnect()
{
    if (!client)
        return;
    bool closed = false;
    asio::co_spawn(loop, close_all(*client, &closed), asio::detached);
    EXPECT_TRUE(finish([&] { return closed; })) << "the client does not end";
    client.reset();
}

couchbase::password socket_scene::login(const std::string& password)
{
    couchbase::password made;
    made.user = "ada";
    made.text = secret{password};
    return made;
}

void socket_scene::connect(couchbase::cluster_options options, const std::string& more)
{
    connect_to(lab.uri() + more, std::move(options));
}

void socket_scene::connect_to(const std::string& uri, couchbase::cluster_options options)
{
    disconnect();
    const auto* const given = std::get_if<couchbase::password>(&options.authenticator);
    if (given != nullptr && given->user.empty())
        options.authenticator = login();
    client.emplace(loop.get_executor(), uri, std::move(options));
}

void socket_scene::warm_up()
{
    for (int n = 0; n != 8; ++n) {
        const auto one = upsert("warm" + std::to_string(n), R"({"n":1})");
        ASSERT_TRUE(one->good()) << one->explain();
    }
}

bool socket_scene::finish(const std::function<bool()>& done, duration limit)
{
    const time_point end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        loop.restart();
        // What is waited for may happen in the lab, too: look again soon.
        if (loop.run_one_for(1ms) == 0)
            loop.restart();
    }
    return true;
}

void socket_scene::fault(const std::string& operation, lab::couchbase_fault what)
{
    what.operations = {operation};
    const auto set = lab.set_fault(operation, what);
    ASSERT_TRUE(set) << set.error().explain();
}

void socket_scene::count(const std::string& operation)
{
    lab::couchbase_fault nothing;
    nothing.operations = {operation};
    // Behind all others by its name.
    const auto set = lab.set_fault("~" + operation, nothing);
    ASSERT_TRUE(set) << set.error().explain();
}

std::int64_t socket_scene::arrived(const std::string& operation) const
{
    return hits(operation) + lab.fault_hits("~" + operation);
}

void socket_scene::command(const std::string& line)
{
    const auto done = lab.command(line);
    ASSERT_TRUE(done) << line << ": " << done.error().explain();
}

lab::couchbase_fault answer_with(kv_status status, std::optional<std::int64_t> times)
{
    lab::couchbase_fault made;
    made.status = static_cast<std::uint16_t>(status);
    made.times = times;
    return made;
}

lab::couchbase_fault cut_before(std::optional<std::int64_t> times)
{
    lab::couchbase_fault made;
    made.close_connection = true;
    made.times = times;
    return made;
}

lab::couchbase_fault cut_after(std::size_t bytes, std::optional<std::int64_t> times)
{
    lab::couchbase_fault made;
    made.cut_reply_at = bytes;
    made.times = times;
    return made;
}

lab::couchbase_fault no_reply(std::optional<std::int64_t> times)
{
    lab::couchbase_fault made;
    made.silent = true;
    made.times = times;
    return made;
}

std::vector<std::string> reasons_of(const error& why)
{
    std::vector<std::string> all;
    for (const attempt& one : why.history())
        all.push_back(one.labels.empty() ? "" : one.labels.front());
    return all;
}

}  // namespace holdfast::proof
