#pragma once
#include "core/mongo/wire/frame_reader.hpp"
#include "core/mongo/wire/message.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "runtime/world.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace holdfast::lab::mongo {

/// A connection from one server of the lab to another: plain request and reply. Members and routers
/// use it; it is no client, and knows nothing of retries. Not shared with the client's library on
/// purpose.
class peer {
public:
    /// Connects and says hello as an internal client (`client.driver.name: "holdfast lab"`, and
    /// `internalClient`). The key is what the others are started with, see node_options.
    static runtime::awaitable<result<std::unique_ptr<peer>>> connect(runtime::world& in,
                                                                     runtime::destination to,
                                                                     runtime::tls_ptr tls,
                                                                     time_point until,
                                                                     std::string cluster_key = {});
    virtual ~peer() = default;

    /// One command and its reply, whatever it says ("ok: 0" is no error here). The view is valid
    /// until the next call. After an error the connection is of no use.
    virtual runtime::awaitable<result<bson::view>> ask(bson::view command, time_point until) = 0;
    /// The same for a whole message (body and sequences), as a router forwards it. A message with
    /// moreToCome gets no reply: an empty view.
    virtual runtime::awaitable<result<bson::view>> forward(const core::mongo::message& message,
                                                           bson::view body, time_point until) = 0;
    virtual bool broken() const noexcept = 0;
    virtual void cancel() noexcept = 0;
};

/// Whether a command was carried out.
bool said_ok(bson::view reply);

}  // namespace holdfast::lab::mongo
