#pragma once
#include "lab/mongo/serve/service.hpp"

namespace holdfast::lab::mongo {

/// Stands between a port and what is behind it. A port has to be open before its server can be
/// made, because a server needs its own address; and a server that is frozen goes on accepting
/// connections and requests, and answers none until it thaws.
class gate final : public service {
public:
    explicit gate(runtime::world& in) : nothing_{in} {}

    void lead_to(service& behind) noexcept { behind_ = &behind; }
    void freeze(bool on);

    bool admits() override { return behind_->admits(); }
    std::int64_t opened() override { return behind_->opened(); }
    void closed(client_facts& who) override { behind_->closed(who); }
    result<progress> answer(request& what, bson::builder& reply) override;
    runtime::awaitable<result<void>> answer_later(request& what, bson::builder& reply) override;
    void close_reply(const request& what, bson::builder& reply) override;
    void write_error(const request& what, const error& why, bson::builder& reply) override;
    runtime::event& news() override { return behind_ ? behind_->news() : nothing_; }
    std::optional<injected_fault> fault_for(const request& what) override;
    concern_state check_concern(const request& what) override;
    error concern_failure(const request& what) override;

private:
    service* behind_ = nullptr;
    bool frozen_ = false;
    runtime::event nothing_;
};

}  // namespace holdfast::lab::mongo
