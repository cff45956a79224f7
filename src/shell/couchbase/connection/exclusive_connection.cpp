#include "shell/couchbase/connection/exclusive_connection.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <boost/system/errc.hpp>

namespace holdfast::shell::couchbase {

void exclusive_connection::cancel() noexcept
{
    inner_->close(error{holdfast::couchbase::errc::request_canceled,
                        "the connection is not needed any more"});
}

/// The waiter has what there is, and is free for the next request.
runtime::wait_end exclusive_connection::ended(kv_waiter& waiter)
{
    waiter.withdraw();
    return runtime::wait_end::notified;
}

/// Takes what was read, up to the reply to this request. Nothing if more has to be read.
std::optional<runtime::wait_end> exclusive_connection::take_frames(std::uint32_t opaque,
                                                                   kv_waiter& waiter)
{
    const runtime::executor nowhere;
    core::couchbase::frame one;
    while (inner_->reader_.next_whole(one)) {
        if (auto problem = inner_->take(one, nowhere)) [[unlikely]]
            inner_->close(*std::move(problem));
        else if (one.header.opaque != opaque || !is_response(one.header.magic)) [[unlikely]]
            continue;  // a late reply to an earlier request
        return ended(waiter);
    }
    if (inner_->reader_.pending() != 0) [[unlikely]] {
        auto next = inner_->reader_.next();  // how much is missing, or what is wrong
        if (!next)
            inner_->close(std::move(next).error());
    }
    if (inner_->is_closed()) [[unlikely]]
        return ended(waiter);
    return std::nullopt;
}

std::optional<runtime::wait_end> exclusive_connection::take_read(const runtime::io_result& got,
                                                                 std::uint32_t opaque,
                                                                 kv_waiter& waiter)
{
    if (got.why == boost::system::errc::timed_out)
        return runtime::wait_end::timed_out;
    if (got.why) {
        inner_->close(stream_failure(got.why, "reading failed"));
        return ended(waiter);
    }
    inner_->reader_.received(got.bytes);
    return take_frames(opaque, waiter);
}

std::optional<runtime::wait_end> exclusive_connection::receive_now(std::uint32_t opaque,
                                                                   kv_waiter& waiter)
{
    auto end = take_frames(opaque, waiter);
    while (!end) {
        const auto got = inner_->stream_->read_now(inner_->reader_.writable());
        if (!got)
            return std::nullopt;
        end = take_read(*got, opaque, waiter);
    }
    return end;
}

runtime::awaitable<runtime::wait_end> exclusive_connection::receive(std::uint32_t opaque,
                                                                    kv_waiter& waiter)
{
    auto end = take_frames(opaque, waiter);
    while (!end) {
        const runtime::io_result got = co_await inner_->stream_->read_some(
            inner_->reader_.writable());
        end = take_read(got, opaque, waiter);
    }
    co_return *end;
}

}  // namespace holdfast::shell::couchbase
