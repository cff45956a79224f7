#include "runtime/stream.hpp"

namespace holdfast::runtime {

awaitable<error_code> write_all(stream& to, std::span<const std::uint8_t> bytes)
{
    error_code why;
    while (!bytes.empty() && !why) {
        const io_result sent = to.write_now(bytes);
        bytes = bytes.subspan(sent.bytes);
        why = sent.why;
        if (why == boost::system::errc::operation_would_block)
            why = co_await to.writable();
    }
    co_return why;
}

}  // namespace holdfast::runtime
