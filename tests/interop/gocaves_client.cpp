// Our client as gocaves/main.py drives it, on a cluster that we did not write. The login stands in
// the environment, as GOCAVES_USER and GOCAVES_PASSWORD:
//     gocaves_client documents URI           what there is for documents, in the bucket `default`;
//                                            the collection things.items must be there
//     gocaves_client collection URI          one collection more: things.later must be there
//     gocaves_client retry URI               one get that is refused three times
//     gocaves_client refused URI BUCKET CODE TEXT    the first operation fails like this
// A line for each assertion; status 0 if all hold.
#include "holdfast/couchbase/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe/class.hpp>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace gocaves {

namespace asio = boost::asio;
namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;

struct part {
    std::string name;
    int count = 0;
};
BOOST_DESCRIBE_STRUCT(part, (), (name, count))

int failed = 0;

void check(std::string_view what, bool holds, std::string_view detail = {})
{
    failed += holds ? 0 : 1;
    std::cout << (holds ? "ok      " : "FAILED  ") << what;
    if (!detail.empty())
        std::cout << ": " << detail;
    std::cout << std::endl;
}

/// The call has failed with this code, and the error says so.
template <class T>
void fails(std::string_view what, const holdfast::result<T>& got, cb::errc code)
{
    const bool expected = !got && got.error().code() == code;
    check(what, expected, got ? "it succeeded" : got.error().message());
}
template <class T>
void succeeds(std::string_view what, const holdfast::result<T>& got)
{
    check(what, got.has_value(), got ? "" : got.error().message());
}

/// Counts what is retried, and why.
class retries : public cb::event_listener {
public:
    void on(const cb::request_retried& one) override
    {
        const std::scoped_lock lock{mutex_};
        reasons_.push_back(one.reason);
        scheduled_ += one.scheduled ? 1 : 0;
    }
    int scheduled() const
    {
        const std::scoped_lock lock{mutex_};
        return scheduled_;
    }
    bool all_are(cb::retry_reason expected) const
    {
        const std::scoped_lock lock{mutex_};
        for (const cb::retry_reason one : reasons_)
            if (one != expected)
                return false;
        return true;
    }

private:
    mutable std::mutex mutex_;
    std::vector<cb::retry_reason> reasons_;
    int scheduled_ = 0;
};

cb::cluster_options login()
{
    const char* const user = std::getenv("GOCAVES_USER");
    const char* const password = std::getenv("GOCAVES_PASSWORD");
    cb::password known;
    known.user = user ? user : "";
    known.text = holdfast::secret{password ? password : ""};
    cb::cluster_options options;
    options.authenticator = std::move(known);
    return options;
}

asio::awaitable<void> whole_documents(cb::collection in, std::string id)
{
    const part first{"bolt", 5};
    const auto stored = co_await in.insert(id, first);
    check("insert", static_cast<bool>(stored.cas));
    check("insert gives a mutation token", stored.token && stored.token->sequence_number != 0);
    fails("insert of what exists", co_await in.insert(id, first, {}, asio::use_awaitable),
          cb::errc::document_exists);
    const auto read = co_await in.get<part>(id);
    check("get", read.content.name == "bolt" && read.cas == stored.cas);
    const part second{"nut", 6};
    const auto replaced = co_await in.replace(id, second, {.cas = stored.cas});
    check("replace changes the cas", replaced.cas != stored.cas);
    const auto late = co_await in.replace(id, first, {.cas = stored.cas}, asio::use_awaitable);
    fails("replace of an older version", late, cb::errc::cas_mismatch);
    const auto upserted = co_await in.upsert(id, second);
    const auto there = co_await in.exists(id);
    check("exists", there.exists && there.cas == upserted.cas);
    const auto gone = co_await in.remove(id, {.cas = stored.cas}, asio::use_awaitable);
    fails("remove of an older version", gone, cb::errc::cas_mismatch);
    co_await in.remove(id);
    const auto absent = co_await in.exists(id);
    check("remove, and exists of nothing", !absent.exists);
    check("get_if of nothing", !co_await in.get_if(id));
    fails("get of nothing", co_await in.get(id, {}, asio::use_awaitable),
          cb::errc::document_not_found);
    fails("replace of nothing", co_await in.replace(id, first, {}, asio::use_awaitable),
          cb::errc::document_not_found);
    fails("remove of nothing", co_await in.remove(id, {}, asio::use_awaitable),
          cb::errc::document_not_found);
}

asio::awaitable<void> contents(cb::collection in, std::string id)
{
    const cb::raw_text text{"a text"};
    co_await in.upsert(id, text);
    const auto read_text = co_await in.get<cb::raw_text>(id);
    check("a text is a text", read_text.content == text);
    const cb::raw_bytes bytes{{0, 1, 255}};
    co_await in.upsert(id, bytes);
    const auto read_bytes = co_await in.get<cb::raw_bytes>(id);
    check("bytes are bytes", read_bytes.content == bytes);
    fails("bytes are no JSON", co_await in.get(id, {}, asio::use_awaitable),
          cb::errc::decoding_failure);
    const std::string long_text(100'000, 'x');
    const part large{long_text, 1};
    co_await in.upsert(id, large);
    const auto read_large = co_await in.get<part>(id);
    check("a compressible document comes back whole", read_large.content.name == long_text);
}

asio::awaitable<void> expiry_and_locks(cb::collection in, std::string id)
{
    const part one{"pin", 1};
    co_await in.upsert(id, one, {.expiry = cb::expiry::in(1h)});
    const auto dated = co_await in.get<part>(id, {.with_expiry = true});
    check("get with expiry", dated.expiry.has_value() && dated.content.name == "pin");
    co_await in.touch(id, cb::expiry::in(2h));
    const auto touched = co_await in.get<part>(id, {.with_expiry = true});
    check("touch moves the expiry", touched.expiry > dated.expiry);
    const auto both = co_await in.get_and_touch<part>(id, cb::expiry::in(3h));
    const auto later = co_await in.get<part>(id, {.with_expiry = true});
    check("get_and_touch", both.content.name == "pin" && later.expiry > touched.expiry);
    co_await in.upsert(id, one, {.expiry = cb::expiry::in(1s)});
    asio::steady_timer wait{in.executor(), 2100ms};
    co_await wait.async_wait(asio::use_awaitable);
    fails("an expired document is gone", co_await in.get(id, {}, asio::use_awaitable),
          cb::errc::document_not_found);

    co_await in.upsert(id, one);
    const auto held = co_await in.get_and_lock<part>(id, 10s);
    check("get_and_lock", held.content.name == "pin");
    const auto refused = co_await in.upsert(id, one, {.timeout = 200ms}, asio::use_awaitable);
    fails("a locked document refuses others until their time is over", refused,
          cb::errc::unambiguous_timeout);
    fails("unlock with another cas",
          co_await in.unlock(id, cb::cas{held.cas.value + 1}, {}, asio::use_awaitable),
          cb::errc::cas_mismatch);
    co_await in.unlock(id, held.cas);
    const auto free = co_await in.upsert(id, one, {.timeout = 1s}, asio::use_awaitable);
    succeeds("unlock", free);
}

asio::awaitable<void> bytes_and_counters(cb::collection in, std::string id)
{
    const cb::raw_bytes middle{{'b'}};
    co_await in.upsert(id, middle);
    co_await in.append(id, "c");
    co_await in.prepend(id, "a");
    const auto whole = co_await in.get<cb::raw_bytes>(id);
    check("append and prepend", whole.content.bytes == std::vector<std::uint8_t>{'a', 'b', 'c'});
    const std::string counter = id + "-n";
    fails("a counter that is not there", co_await in.increment(counter, {}, asio::use_awaitable),
          cb::errc::document_not_found);
    const auto made = co_await in.increment(counter, {.delta = 3, .initial = 10});
    const auto up = co_await in.increment(counter, {.delta = 5});
    const auto down = co_await in.decrement(counter, {.delta = 7});
    const auto least = co_await in.decrement(counter, {.delta = 100});
    check("increment and decrement",
          made.value == 10 && up.value == 15 && down.value == 8 && least.value == 0);
}

asio::awaitable<void> parts(cb::collection in, std::string id)
{
    const holdfast::raw_json text{R"({"a":{"b":[1,2,3]},"n":4,"s":"x"})"};
    co_await in.upsert(id, text);
    const auto paths = cb::lookup(cb::get("a.b[1]"), cb::exists("s"), cb::exists("z"),
                                  cb::count("a.b"), cb::get("z"));
    const auto found = co_await in.lookup_in(id, paths);
    check("lookup_in",
          found.as<int>(0) == 2 && found.exists(1) && !found.exists(2) && found.as<int>(3) == 3);
    check("lookup_in names what is missing", found.code(4) == cb::errc::path_not_found);
    const std::string_view some[] = {"n", "a.b[0]"};
    const auto projected = co_await in.get(id, {.project = some});
    check("projection", projected.content.text() == R"({"n":4,"a":{"b":[1]}})",
          projected.content.text());
    const auto edit = cb::changes(cb::upsert("new.deep", true).create_path(), cb::increment("n", 2),
                                  cb::replace("s", "y"), cb::array_append("a.b", 4, 5),
                                  cb::array_prepend("a.b", 0), cb::remove("a.b[1]"),
                                  cb::array_add_unique("a.b", 9), cb::array_insert("a.b[0]", -1));
    const auto changed = co_await in.mutate_in(id, edit);
    check("mutate_in gives the counter", changed.as<int>(1) == 6);
    const auto after = co_await in.get(id);
    check("mutate_in changes all",  // members come back in the order of their names
          after.content.text() ==
              R"({"a":{"b":[-1,0,2,3,4,5,9]},"n":6,"new":{"deep":true},"s":"y"})",
          after.content.text());
    const auto clash = cb::changes(cb::upsert("m", 1), cb::insert("s", 1));
    const auto none = co_await in.mutate_in(id, clash, {}, asio::use_awaitable);
    fails("mutate_in changes all or nothing", none, cb::errc::path_exists);
    const auto beside = cb::changes(cb::upsert("own.by", "us").xattr().create_path());
    co_await in.mutate_in(id, beside);
    const auto attribute = cb::lookup(cb::get("own.by").xattr(), cb::get("$document.CAS").xattr());
    const auto read = co_await in.lookup_in(id, attribute);
    check("extended attributes", read.as<std::string>(0) == "us" && read.exists(1));
    const auto insert = cb::changes(cb::upsert("a", 1));
    const auto made = co_await in.mutate_in(id + "-new", insert,
                                            {.store_semantics = cb::store_semantics::insert});
    check("mutate_in makes a document", static_cast<bool>(made.cas()));
}

asio::awaitable<void> copies(cb::collection in, std::string id)
{
    const part one{"copy", 1};
    constexpr std::array levels{cb::durability::majority,
                                cb::durability::majority_and_persist_to_active,
                                cb::durability::persist_to_majority};
    for (const auto level : levels) {
        const auto done = co_await in.upsert(id, one, {.durability = level}, asio::use_awaitable);
        succeeds("a durable upsert of level " + std::to_string(static_cast<int>(level)), done);
    }
    asio::steady_timer replicated{in.executor(), 300ms};
    co_await replicated.async_wait(asio::use_awaitable);
    const auto any = co_await in.get_any_replica<part>(id);
    check("get_any_replica", any.content.name == "copy");
    const auto all = co_await in.get_all_replicas<part>(id);
    check("get_all_replicas", all.size() == 2);
    const auto paths = cb::lookup(cb::get("name"));
    const auto part_of_any = co_await in.lookup_in_any_replica(id, paths);
    check("lookup_in_any_replica", part_of_any.as<std::string>(0) == "copy");
    const auto part_of_all = co_await in.lookup_in_all_replicas(id, paths);
    check("lookup_in_all_replicas", part_of_all.size() == 1);  // gocaves: active nodes only
}

asio::awaitable<void> many(cb::collection in, std::string id)
{
    int found = 0;
    for (int n = 0; n != 300; ++n) {
        const part one{"many", n};
        co_await in.upsert(id + std::to_string(n), one);
    }
    for (int n = 0; n != 300; ++n) {
        const auto one = co_await in.get<part>(id + std::to_string(n));
        found += one.content.count == n ? 1 : 0;
    }
    check("300 documents on both nodes", found == 300);
}

asio::awaitable<void> all_of(cb::collection in)
{
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    const std::string prefix = std::to_string(now) + in.name() + "-";  // of this run alone
    std::cout << "        in the collection " << in.scope_name() << '.' << in.name() << std::endl;
    co_await whole_documents(in, prefix + "whole");
    co_await contents(in, prefix + "content");
    co_await expiry_and_locks(in, prefix + "time");
    co_await bytes_and_counters(in, prefix + "bytes");
    co_await parts(in, prefix + "parts");
    co_await copies(in, prefix + "copies");
    co_await many(in, prefix + "many-");
}

asio::awaitable<void> documents(cb::cluster db)
{
    const auto bucket = db["default"];
    co_await bucket.ready({.timeout = 5s});
    co_await db.ready({.timeout = 5s});
    check("ready", true);
    auto report = co_await db.ping();
    for (int n = 0; n != 40 && !report.all_answered(); ++n) {  // one connects later than others
        asio::steady_timer wait{co_await asio::this_coro::executor, 50ms};
        co_await wait.async_wait(asio::use_awaitable);
        report = co_await db.ping();
    }
    check("ping reaches all nodes", report.all_answered() && report.key_value.size() >= 2);
    check("diagnostics", db.diagnostics().key_value.size() >= 2);
    co_await all_of(bucket.default_collection());
    co_await all_of(bucket["things"]["items"]);
    const auto unknown = bucket["things"]["nowhere"];
    const auto began = std::chrono::steady_clock::now();
    fails("an unknown collection", co_await unknown.get("k", {}, asio::use_awaitable),
          cb::errc::collection_not_found);
    check("an unknown collection fails at once", std::chrono::steady_clock::now() - began < 1s);
    fails("an unknown scope", co_await bucket["nowhere"]["c"].get("k", {}, asio::use_awaitable),
          cb::errc::scope_not_found);
}

asio::awaitable<void> collection(cb::cluster db)
{
    const auto later = db["default"]["things"]["later"];
    const part one{"later", 1};
    co_await later.upsert("k", one);
    const auto read = co_await later.get<part>("k");
    check("a collection that was made since", read.content.name == "later");
}

asio::awaitable<void> retry(cb::cluster db, std::shared_ptr<retries> heard)
{
    const auto in = db["default"].default_collection();
    const part one{"world", 1};
    co_await in.upsert("hello", one);
    const auto got = co_await in.get<part>("hello", {.timeout = 5s}, asio::use_awaitable);
    succeeds("get of what is refused by the error map", got);
    check("it was retried three times", heard->scheduled() == 3,
          std::to_string(heard->scheduled()));
    check("because the error map says so",
          heard->all_are(cb::retry_reason::kv_error_map_retry_indicated));
}

asio::awaitable<void> refused(cb::cluster db, std::vector<std::string_view> given)
{
    given.resize(6);
    const auto [bucket, code, text] = std::tuple{given[3], given[4], given[5]};
    const auto began = std::chrono::steady_clock::now();
    const auto got = co_await db[bucket].default_collection().get("k", {}, asio::use_awaitable);
    const auto took = std::chrono::steady_clock::now() - began;
    const std::string said = got ? "it succeeded" : got.error().explain();
    check("refused with " + std::string{code},
          !got && std::to_string(got.error().code().value()) == code, said);
    check("the error says " + std::string{text}, said.find(text) != said.npos);
    check("at once", took < 500ms);
}

}  // namespace gocaves

int main(int count, char** arguments)
{
    using namespace gocaves;
    const std::vector<std::string_view> given(arguments, arguments + count);
    if (count < 3) {
        std::cerr << "gocaves_client documents|collection|retry|refused URI ...\n";
        return 2;
    }
    asio::io_context loop{1};
    const auto heard = std::make_shared<retries>();
    auto options = login();
    options.listeners.push_back(heard);
    auto db = cb::cluster::create(loop.get_executor(), given[2], std::move(options));
    if (!db) {
        std::cerr << db.error().message() << '\n';
        return 2;
    }
    const auto run = [&]() -> asio::awaitable<void> {
        if (given[1] == "documents")
            co_await documents(*db);
        else if (given[1] == "collection")
            co_await collection(*db);
        else if (given[1] == "retry")
            co_await retry(*db, heard);
        else
            co_await refused(*db, given);
    };
    asio::co_spawn(loop, run, [&](std::exception_ptr thrown) {
        try {
            if (thrown)
                std::rethrow_exception(thrown);
        } catch (const std::exception& wrong) {
            check("runs to its end", false, wrong.what());
        }
        asio::co_spawn(loop, db->close(), asio::detached);
    });
    loop.run();
    return failed == 0 ? 0 : 1;
}
