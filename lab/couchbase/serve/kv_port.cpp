#include "lab/couchbase/serve/kv_port.hpp"

#include "lab/couchbase/serve/kv_conversation.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

class kv_acceptor final : public acceptor {
public:
    kv_acceptor(node& with, bool secure) : node_{with}, secure_{secure}, news_{with.world} {}

    bool admits() override { return true; }
    std::unique_ptr<conversation> accept(runtime::world&, std::string) override
    {
        return std::make_unique<kv_conversation>(node_, secure_);
    }
    runtime::event& news() override { return news_; }

private:
    node& node_;
    bool secure_;
    runtime::event news_;
};

}  // namespace

result<std::unique_ptr<open_port>> open_kv_port(node& with, port_options options)
{
    const bool secure = options.tls != nullptr;
    return open_port::open(with.world, std::make_unique<kv_acceptor>(with, secure),
                           std::move(options));
}

}  // namespace holdfast::lab::couchbase
