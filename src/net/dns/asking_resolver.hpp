#pragma once
#include "net/dns/query.hpp"
#include "net/dns/resolver.hpp"

namespace holdfast::net {

/// A resolver but for the waiting.
class asking_resolver : public resolver {
public:
    explicit asking_resolver(runtime::world& in) : world_{in} {}

    runtime::awaitable<result<std::vector<std::string>>> addresses(std::string host,
                                                                   time_point until) final;
    runtime::awaitable<result<std::vector<runtime::srv_record>>> srv(std::string name,
                                                                     time_point until) final;
    runtime::awaitable<result<std::vector<std::string>>> txt(std::string name,
                                                             time_point until) final;

protected:
    /// There is time left, and nothing has been cancelled yet.
    virtual runtime::awaitable<result<found>> ask(question what, time_point until) = 0;

    runtime::world& world_;

private:
    /// The part of the answer that a caller wants.
    template <class Records>
    runtime::awaitable<result<Records>> ask_for(question what, time_point until,
                                                Records found::* part);
};

}  // namespace holdfast::net
