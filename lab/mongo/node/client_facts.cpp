#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/login_conversation.hpp"
#include "runtime/alarm.hpp"

#include <chrono>

namespace holdfast::lab::mongo {

client_facts::client_facts() = default;
client_facts::~client_facts() = default;

time_point request::out_of_time() const noexcept
{
    // 0 is no limit, as everywhere.
    if (!max_time_ms || *max_time_ms == 0)
        return runtime::never;
    return arrived + std::chrono::milliseconds{*max_time_ms};
}

}  // namespace holdfast::lab::mongo
