#pragma once
#include "runtime/awaitable.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::net {

namespace asio = boost::asio;

class context_bound;

/// The library's objects on one execution context. Objects of Asio must not outlive their context,
/// but an application may well destroy its context first: then ours are notified to release theirs,
/// while the services behind these still work.
class context_registry {
public:
    /// The registry of the executor's context. Creates the services of Asio that the library uses,
    /// if they are not there yet: the last one created is shut down first, which must be this one.
    static std::shared_ptr<context_registry> of(const runtime::executor& on);

private:
    friend class context_bound;
    class service;

    void shut_down() noexcept;

    std::mutex mutex_;
    context_bound* first_ = nullptr;
    bool gone_ = false;
};

/// The base of such an object. The class derived from it calls register_self() when it is complete
/// and unregister() first of all in its destructor.
class context_bound {
protected:
    explicit context_bound(std::shared_ptr<context_registry> at) noexcept : at_{std::move(at)} {}
    context_bound(const context_bound&) = delete;
    context_bound& operator=(const context_bound&) = delete;
    ~context_bound() = default;

    void register_self() noexcept;
    void unregister() noexcept;

    /// The context is being destroyed: destroy the objects that belong to it. Called at most once,
    /// and never after unregister().
    virtual void context_gone() noexcept = 0;

private:
    friend class context_registry;

    const std::shared_ptr<context_registry> at_;
    context_bound* before_ = nullptr;
    context_bound* after_ = nullptr;
    bool linked_ = false;
};

}  // namespace holdfast::net
