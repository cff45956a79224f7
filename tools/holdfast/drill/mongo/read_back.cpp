#include "tools/holdfast/drill/mongo/read_back.hpp"

#include "holdfast/bson/builder.hpp"
#include "runtime/wait.hpp"

#include <utility>

namespace holdfast::drill {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

std::int64_t number_in(const bson::element& from)
{
    if (from.type() == bson::type::int64)
        return from.as_int64();
    return from.type() == bson::type::int32 ? from.as_int32() : 0;
}

void take(bson::view from, found_state& into)
{
    if (const bson::element carried = from.find("t"); carried) {
        ++into.documents[number_in(carried)];
        return;
    }
    const bson::element id = from.find("_id");
    if (id.type() != bson::type::string)
        return;
    const std::string_view name = id.as_string();
    const bson::element signatures = from.find("s");
    if (signatures.type() != bson::type::array)
        return;
    page& made = into.pages[std::string{name}];
    made.count = number_in(from.find("n"));
    for (const bson::element& one : signatures.as_array())
        made.signatures.push_back(number_in(one));
}

awaitable<result<found_state>> read_once(mongo::collection target)
{
    // A primary that has just been elected may not know yet all that a majority has. Once a
    // majority has taken something new from it, it does.
    const bson::document mark = bson::doc("_id", "mark");
    const bson::document change = bson::doc("$inc", bson::object("n", 1));
    mongo::update_options safely;
    safely.write_concern = mongo::majority;
    safely.upsert = true;
    const auto marked = co_await target.update_one(mark, change, safely,
                                                   boost::asio::use_awaitable);
    if (!marked)
        co_return marked.error();
    const bson::document all = bson::doc();
    mongo::find_options options;
    options.read_concern = mongo::read_concern{.level = "majority"};
    options.read_preference = mongo::read_preference{};  // the primary, whatever a URI says
    mongo::cursor found = target.find(all.view(), options);
    found_state made;
    for (;;) {
        const auto more = co_await found.next_batch(boost::asio::use_awaitable);
        if (!more)
            co_return more.error();
        if (!*more)
            break;
        for (const bson::view one : found.batch())
            take(one, made);
    }
    co_return made;
}

}  // namespace

awaitable<result<void>> prepare(mongo::collection target)
{
    const bson::document keys = bson::doc("t", 1);
    const bson::view no_options;
    const mongo::index_options options;
    const auto indexed = co_await target.create_index(keys, no_options, options,
                                                      boost::asio::use_awaitable);
    if (!indexed)
        co_return indexed.error();
    const bson::document mark = bson::doc("_id", "mark", "n", std::int64_t{0});
    mongo::insert_one_options safely;
    safely.write_concern = mongo::majority;
    const auto made = co_await target.insert_one(mark.view(), safely, boost::asio::use_awaitable);
    if (!made)
        co_return made.error();
    co_return result<void>{};
}

awaitable<result<found_state>> read_back(runtime::world& in, mongo::collection target,
                                         time_point until)
{
    for (;;) {
        auto found = co_await read_once(target);
        if (found || in.steady_now() >= until)
            co_return found;
        co_await runtime::sleep_until(in, in.steady_now() + 200ms);
    }
}

}  // namespace holdfast::drill
