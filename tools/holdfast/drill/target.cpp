#include "tools/holdfast/drill/target.hpp"

#include <string>

namespace holdfast::drill {
namespace {

error unsupported(const char* fault)
{
    return error{make_error_code(boost::system::errc::operation_not_supported),
                 std::string{"this deployment does not support the fault "} + fault};
}

}  // namespace

result<void> target::step_down(std::chrono::seconds)
{
    return unsupported("stepdown");
}

result<void> target::crash(std::size_t)
{
    return unsupported("crash");
}

result<void> target::restart(std::size_t)
{
    return unsupported("restart");
}

result<void> target::freeze(std::size_t)
{
    return unsupported("freeze");
}

result<void> target::thaw(std::size_t)
{
    return unsupported("thaw");
}

result<void> target::limit_requests(std::int32_t)
{
    return unsupported("overload");
}

result<void> target::fail_over(std::size_t)
{
    return unsupported("failover");
}

result<void> target::fail_over_gracefully(std::size_t)
{
    return unsupported("failover");
}

result<void> target::replace_lost()
{
    return unsupported("failover");
}

result<void> target::rebalance_in()
{
    return unsupported("rebalance");
}

result<void> target::rebalance_out(std::size_t)
{
    return unsupported("rebalance");
}

}  // namespace holdfast::drill
