// g++ 12 destroys a temporary aggregate in a co_await expression twice. A struct that is written in
// place is refused there, in each form that can be awaited: every line under REFUSED is an error of
// its own, which awaited_temporary.py checks. Without it the file shows the forms that are safe.
#include "holdfast/couchbase/cluster.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/filter.hpp"
#include "holdfast/mongo/sync/client.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <string>
#include <vector>

namespace awaited_temporary {

namespace asio = boost::asio;
namespace couchbase = holdfast::couchbase;
namespace mongo = holdfast::mongo;

struct account {
    std::string owner;
    double balance = 0;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))

struct point {  // needs no destruction
    double x = 0;
    double y = 0;
};
BOOST_DESCRIBE_STRUCT(point, (), (x, y))

struct batch {  // a range that is an aggregate
    std::vector<account> all = {};
    auto begin() const { return all.begin(); }
    auto end() const { return all.end(); }
};

asio::awaitable<void> awaited(mongo::collection in, couchbase::collection documents)
{
    const account ada{"ada", 1};
    const std::vector<account> all{ada, ada};
    co_await in.insert_one(ada);
    co_await in.insert_one(ada, {}, asio::use_awaitable);
    co_await in.insert_one(point{1, 2});
    co_await in.insert_one(holdfast::bson::doc("owner", "bob"));
    co_await in.replace_one(mongo::filter("owner", "ada"), ada);
    co_await in.insert_many(all);
    co_await in.insert_many(ada, holdfast::bson::doc("owner", "bob"), point{1, 2});
    co_await documents.upsert("a", ada);
    co_await documents.insert("a", point{1, 2});
    co_await documents.replace("a", couchbase::raw_text{"text"}, {}, asio::use_awaitable);
#ifdef REFUSED
    co_await in.insert_one(account{"bob", 1});
    co_await in.insert_one(account{"bob", 1}, {}, asio::use_awaitable);
    co_await in.insert_one(account{"bob", 1}, {}, asio::as_tuple(asio::use_awaitable));
    co_await in.insert_one(account{"bob", 1}, {}, asio::deferred);
    co_await in.replace_one(mongo::filter("owner", "ada"), account{"bob", 1});
    co_await in.insert_many(batch{});
    co_await in.insert_many(ada, account{"bob", 1});
    co_await documents.upsert("a", account{"bob", 1});
    co_await documents.insert("a", account{"bob", 1}, {}, asio::use_awaitable);
    co_await documents.replace("a", account{"bob", 1}, {}, asio::deferred);
#endif
}

void not_awaited(const mongo::collection& in, const mongo::sync::collection& blocking,
                 const couchbase::collection& documents,
                 const couchbase::sync::collection& blocking_documents)
{
    documents.upsert("a", account{"ada", 1}, {}, asio::use_future).wait();
    blocking_documents.upsert("a", account{"ada", 1});
    in.insert_one(account{"ada", 1}, {}, [](const holdfast::result<mongo::insert_one_result>&) {});
    in.insert_one(account{"ada", 1}, {}, asio::use_future).wait();
    blocking.insert_one(account{"ada", 1});
    blocking.insert_many(account{"ada", 1}, account{"bob", 1});
    blocking.insert_many(std::vector<account>{{"ada", 1}, {"bob", 1}});
}

}  // namespace awaited_temporary
