#include "holdfast/couchbase/retry.hpp"

#include "core/couchbase/retry/strategy.hpp"

#include <cassert>

namespace holdfast::couchbase {

/// Lives as long as anybody could still answer.
struct retry_reply::slot {
    explicit slot(receiver whom) : to{std::move(whom)} {}
    slot(const slot&) = delete;
    slot& operator=(const slot&) = delete;
    ~slot()
    {
        if (!to)
            return;
        const error dropped{errc::retry_strategy_failure,
                            "the retry strategy dropped its reply without an answer"};
        deliver(thrown ? *thrown : dropped);
    }

    void deliver(result<retry_action> answer)
    {
        const receiver once = std::exchange(to, nullptr);
        once(std::move(answer));
    }

    receiver to;  // empty once answered
    std::optional<error> thrown;  // by the strategy; reported if no answer comes
};

retry_reply::retry_reply(receiver to) : slot_{std::make_shared<slot>(std::move(to))} {}
retry_reply::retry_reply(retry_reply&&) noexcept = default;
retry_reply& retry_reply::operator=(retry_reply&&) noexcept = default;
retry_reply::~retry_reply() = default;

void retry_reply::deliver(result<retry_action> answer)
{
    assert(slot_ && "a reply is given once");
    if (const auto mine = std::exchange(slot_, nullptr))
        mine->deliver(std::move(answer));
}

void retry_reply::pass_to(const std::function<void(retry_reply)>& start) &&
{
    const auto kept = slot_;
    try {
        start(std::move(*this));
    } catch (...) {
        // If the reply that was passed on is gone by now, the slot goes here, and says this. If
        // other code holds it, that code will answer, and one answer is enough.
        if (kept)
            kept->thrown = core::couchbase::error_of(std::current_exception());
    }
}

retry_request::retry_request(settings of) : settings_{std::move(of)}
{
    if (!settings_.strategy)
        settings_.strategy = default_retry_strategy();
}

const std::any* retry_request::context(std::string_view name) const
{
    if (!settings_.context)
        return nullptr;
    const auto found = settings_.context->find(name);
    return found == settings_.context->end() ? nullptr : &found->second;
}

void retry_request::increment_retry_attempts(retry_reason because)
{
    ++attempts_;
    reasons_.insert(because);
}

}  // namespace holdfast::couchbase
