#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/membership.hpp"

namespace holdfast::lab::mongo {

runtime::awaitable<result<bson::document>> membership::ask_primary(const request&)
{
    co_return refuse(server_code::not_writable_primary, "not primary");
}

void standalone::describe(bson::builder& hello, bool legacy) const
{
    hello.add(legacy ? "ismaster" : "isWritablePrimary", true);
}

concern_state standalone::check(const optime&, const write_concern&) const
{
    return concern_state::met;
}

result<void> standalone::accepts(const write_concern& concern) const
{
    if (!concern.mode.empty())
        return refuse(server_code::bad_value, "cannot use non-majority 'w' mode \"" + concern.mode +
                                                  "\" when a host is not replicated");
    if (!concern.majority && concern.w > 1)
        return refuse(server_code::bad_value, "cannot use 'w' > 1 when a host is not replicated");
    return {};
}

}  // namespace holdfast::lab::mongo
