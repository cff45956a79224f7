#pragma once
#include "core/couchbase/rows/row_splitter.hpp"
#include "shell/couchbase/execute/cluster_state.hpp"
#include "shell/couchbase/execute/service_operation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::shell::couchbase {

/// The rows of one operation, pulled by its caller: nothing is read before it is asked for, beyond
/// one buffer of 64 kB. The request is repeated only as long as there was no row. One coroutine
/// uses it at a time. The deadline of the call holds up to the last row.
class row_stream {
public:
    /// No I/O. `rows`: the array's name in the reply, a literal.
    row_stream(std::shared_ptr<cluster_state> cluster, service_call call, std::string_view rows,
               const core::couchbase::row_limits& limits = {});
    row_stream(row_stream&&) noexcept;
    row_stream& operator=(row_stream&&) noexcept;
    ~row_stream();  // closes the connection, unless all was read

    /// A row that is at hand, which is handed out with this; nothing if fetch() must be awaited.
    /// Valid until the next call of either.
    std::optional<std::string_view> take();

    /// Sends the request, or reads on, until a row is at hand: false at the end, and after an
    /// error or abandon().
    runtime::awaitable<result<bool>> fetch();

    /// The reply without its rows, a JSON object once the end was reached; before that, its
    /// beginning. Of a reply with another status than 200, its body.
    std::string_view metadata() const noexcept;
    std::uint64_t rows() const noexcept;  // handed out
    std::uint32_t retry_attempts() const noexcept;
    /// Of the last attempt; empty if there was none.
    endpoint server() const;

    /// No more is wanted: the connection is closed, so that the server stops.
    void abandon() noexcept;

private:
    class attempts;
    std::unique_ptr<attempts> attempts_;
};

}  // namespace holdfast::shell::couchbase
