#pragma once
#include "runtime/wait.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::shell {

/// A coroutine waits here for an answer that is given later, on any thread, or never. The box is
/// all
/// that is shared with the giver, so an answer that comes after the wait, even after the end of the
/// world, stays in a box that is not opened any more.
template <class Answer>
class answer_box {
public:
    explicit answer_box(runtime::world& in) : shared_{std::make_shared<shared>(in)} {}

    /// For the giver. The first answer counts; all others are dropped.
    std::function<void(Answer)> reply() const
    {
        return [to = shared_](Answer what) { to->give(std::move(what)); };
    }

    /// The answer, once, if it is there.
    std::optional<Answer> take()
    {
        const std::scoped_lock lock{shared_->mutex};
        return std::exchange(shared_->answer, std::nullopt);
    }

    /// Returns at once if an answer was given already, taken or not.
    runtime::awaitable<runtime::wait_end> wait(time_point until)
    {
        return shared_->given.wait(0, until);
    }

private:
    struct shared {
        explicit shared(runtime::world& in) : given{in} {}

        void give(Answer what)
        {
            {
                const std::scoped_lock lock{mutex};
                if (std::exchange(answered, true))
                    return;
                answer.emplace(std::move(what));
            }
            given.notify();
        }

        std::mutex mutex;
        bool answered = false;
        std::optional<Answer> answer;
        runtime::event given;
    };
    std::shared_ptr<shared> shared_;
};

}  // namespace holdfast::shell
