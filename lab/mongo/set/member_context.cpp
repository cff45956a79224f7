#include "lab/mongo/set/member_context.hpp"

#include "lab/mongo/set/address.hpp"

#include <utility>

namespace holdfast::lab::mongo {

using runtime::awaitable;

member_context::member_context(mongo::node& of, runtime::tls_ptr with)
    : node{of}, tls{std::move(with)}, changed{of.world}, progress{of.world}, tasks{of.world}
{
}

awaitable<result<std::unique_ptr<peer>>> member_context::connect_to(std::string host,
                                                                    time_point until)
{
    auto where = read_address(host);
    if (!where)
        co_return std::move(where).error();
    auto made = co_await peer::connect(node.world, *std::move(where), tls, until,
                                       node.options.cluster_key);
    co_return made;
}

awaitable<std::optional<bson::document>> member_context::call(std::string host, bson::document what,
                                                              duration timeout)
{
    const time_point until = now() + timeout;
    auto line = co_await connect_to(std::move(host), until);
    if (!line)
        co_return std::nullopt;
    const auto reply = co_await (*line)->ask(what.view(), until);
    if (!reply)
        co_return std::nullopt;
    co_return bson::document{*reply};
}

}  // namespace holdfast::lab::mongo
