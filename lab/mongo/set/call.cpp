#include "lab/document/server_code.hpp"
#include "lab/mongo/set/address.hpp"
#include "lab/mongo/set/set_member.hpp"

#include <utility>

namespace holdfast::lab::mongo {

using runtime::awaitable;

awaitable<result<std::unique_ptr<peer>>> set_member::connect_to(std::string host, time_point until)
{
    auto where = read_address(host);
    if (!where)
        co_return std::move(where).error();
    auto made = co_await peer::connect(node_.world, *std::move(where), options_.tls, until,
                                       node_.options.cluster_key);
    co_return made;
}

awaitable<std::optional<bson::document>> set_member::call(std::string host, bson::document what,
                                                          duration patience)
{
    const time_point until = node_.now() + patience;
    auto line = co_await connect_to(std::move(host), until);
    if (!line)
        co_return std::nullopt;
    const auto reply = co_await (*line)->ask(what.view(), until);
    if (!reply)
        co_return std::nullopt;
    co_return bson::document{*reply};
}

}  // namespace holdfast::lab::mongo
