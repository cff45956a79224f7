#include "lab/mongo/deployment/gate.hpp"

namespace holdfast::lab::mongo {

void gate::freeze(bool on)
{
    frozen_ = on;
    news().notify();
}

result<progress> gate::answer(request& what, bson::builder& reply)
{
    if (!frozen_)
        return behind_->answer(what, reply);
    what.wait_until = runtime::never;
    return progress::wait;
}

runtime::awaitable<result<void>> gate::answer_later(request& what, bson::builder& reply)
{
    return behind_->answer_later(what, reply);
}

void gate::close_reply(const request& what, bson::builder& reply)
{
    behind_->close_reply(what, reply);
}

void gate::write_error(const request& what, const error& why, bson::builder& reply)
{
    behind_->write_error(what, why, reply);
}

std::optional<injected_fault> gate::fault_for(const request& what)
{
    return behind_->fault_for(what);
}

concern_state gate::check_concern(const request& what)
{
    return frozen_ ? concern_state::pending : behind_->check_concern(what);
}

error gate::concern_failure(const request& what)
{
    return behind_->concern_failure(what);
}

}  // namespace holdfast::lab::mongo
