#pragma once
#include "lab/couchbase/http/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

namespace holdfast::lab::couchbase {

struct http_limits {
    std::size_t head = std::size_t{16} * 1024;
    std::size_t body = std::size_t{1024} * 1024;
};

struct needs_bytes {};
struct refused_request {
    int status;  // to be answered before the connection is closed
};
using next_request = std::variant<needs_bytes, http_request, refused_request>;

/// Takes requests out of the bytes of a connection. It does no input by itself.
class request_reader {
public:
    explicit request_reader(http_limits limits = {});
    request_reader(const request_reader&) = delete;
    request_reader& operator=(const request_reader&) = delete;
    ~request_reader();

    std::span<std::uint8_t> writable();
    void received(std::size_t count) noexcept;
    next_request next();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace holdfast::lab::couchbase
