#include "lab/couchbase/http/http_port.hpp"

#include "lab/couchbase/http/http_conversation.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

class http_acceptor final : public acceptor {
public:
    explicit http_acceptor(http_service& with) : service_{with} {}

    bool admits() override { return true; }
    std::unique_ptr<conversation> accept(runtime::world& in, std::string) override
    {
        return std::make_unique<http_conversation>(in, service_);
    }
    runtime::event& news() override { return service_.news(); }

private:
    http_service& service_;
};

}  // namespace

result<std::unique_ptr<open_port>> open_http_port(runtime::world& in, http_service& with,
                                                  port_options options)
{
    return open_port::open(in, std::make_unique<http_acceptor>(with), std::move(options));
}

}  // namespace holdfast::lab::couchbase
