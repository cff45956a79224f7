#pragma once
#include "net/tls/context.hpp"
#include "net/tls/session_cache.hpp"
#include "runtime/tls.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::net {

class openssl_layer final : public runtime::tls_layer {
public:
    openssl_layer(tls_contexts contexts, bool check_name);

    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::stream_ptr over,
                                                            std::string host) override;
    runtime::awaitable<result<runtime::stream_ptr>> accept(runtime::stream_ptr over) override;

    /// How many handshakes went the short way.
    std::uint64_t resumed() const noexcept { return shared_->resumed; }
    const session_cache& sessions() const noexcept { return *shared_->sessions; }

private:
    /// What a handshake needs; it may take longer than its layer lives.
    struct shared {
        tls_contexts contexts;
        bool check_name;
        std::shared_ptr<session_cache> sessions = std::make_shared<session_cache>();
        std::atomic<std::uint64_t> resumed = 0;
    };
    using shared_ptr = std::shared_ptr<shared>;

    static runtime::awaitable<result<runtime::stream_ptr>> connect_with(shared_ptr with,
                                                                        runtime::stream_ptr over,
                                                                        std::string host);
    static runtime::awaitable<result<runtime::stream_ptr>> accept_with(shared_ptr with,
                                                                       runtime::stream_ptr over);

    shared_ptr shared_;
};

}  // namespace holdfast::net
