#pragma once
#include "runtime/awaitable.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::net {

namespace asio = boost::asio;

class context_bound;

/// Knows all objects of ours that live on one execution context. Objects of Asio must not outlive
/// their context, but an application may well destroy its context first: then ours are told to let
/// go of theirs, while the services behind these still work.
class context_registry {
public:
    /// Where everything made on this executor is anchored. Creates the services of Asio that we
    /// use, if they are not there yet: who is created last is shut down first, and that must be us.
    static std::shared_ptr<context_registry> of(const runtime::executor& on);

private:
    friend class context_bound;
    class service;

    void shut_down() noexcept;

    std::mutex mutex_;
    context_bound* first_ = nullptr;
    bool gone_ = false;
};

/// The base of such an object. The class derived from it calls anchor() when it is complete and
/// cast_off() first of all in its destructor.
class context_bound {
protected:
    explicit context_bound(std::shared_ptr<context_registry> at) noexcept : at_{std::move(at)} {}
    context_bound(const context_bound&) = delete;
    context_bound& operator=(const context_bound&) = delete;
    ~context_bound() = default;

    void register_self() noexcept;
    void unregister() noexcept;

    /// The context goes: destroy what belongs to it. Once at most, and never after cast_off().
    virtual void context_gone() noexcept = 0;

private:
    friend class context_registry;

    const std::shared_ptr<context_registry> at_;
    context_bound* before_ = nullptr;
    context_bound* after_ = nullptr;
    bool linked_ = false;
};

}  // namespace holdfast::net
