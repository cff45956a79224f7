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

result<void> target::limit_requests(std::int32_t)
{
    return unsupported("overload");
}

}  // namespace holdfast::drill
