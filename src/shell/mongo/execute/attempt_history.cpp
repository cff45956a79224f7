#include "shell/mongo/execute/attempt_history.hpp"

#include "core/mongo/retry/applied.hpp"

namespace holdfast::shell::mongo {

void attempt_history::record(const error& why, std::string decision, duration wait, time_point now)
{
    holdfast::attempt one;
    one.server = server_;
    one.phase = phase_;
    one.cause = why.code();
    one.labels.assign(why.labels().begin(), why.labels().end());
    one.started = attempt_began_ - began_;
    one.took = now - attempt_began_;
    one.waited = wait;
    one.decision = std::move(decision);
    one.possibly_applied = possibly_applied_ = core::mongo::possibly_applied(possibly_applied_,
                                                                             one);
    log_.record(std::move(one));
}

error attempt_history::interrupted(error_code code, std::string text) const
{
    if (reported_)
        text += "; the last failure: " + reported_->message();
    return complete(error{code, std::move(text)});
}

}  // namespace holdfast::shell::mongo
