#pragma once
#include "lab/couchbase/http/http_faults.hpp"
#include "lab/couchbase/http/message.hpp"
#include "runtime/wait.hpp"

#include <cstddef>
#include <optional>

namespace holdfast::lab::couchbase {

/// What answers the requests of a port.
class http_service {
public:
    virtual ~http_service() = default;

    virtual http_reply answer(const http_request& what) = 0;
    /// The same under a fault that changes what the service itself gives.
    virtual http_reply answer_under(const http_request& what, const http_fault& hit)
    {
        (void)hit;
        return answer(what);
    }
    virtual std::optional<http_fault> fault_for(const http_request& what) = 0;
    /// Replies that go on have something new.
    virtual runtime::event& news() = 0;
    /// While it is, nothing is read or answered.
    virtual bool frozen() const = 0;
    /// Not 0: replies are sent in chunks of so many bytes.
    virtual std::size_t chunk_size() const { return 0; }
};

}  // namespace holdfast::lab::couchbase
