#pragma once
#include "runtime/awaitable.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::net {

namespace asio = boost::asio;

class anchored;

/// Knows all objects of ours that live on one execution context. Objects of Asio must not outlive
/// their context, but an application may well destroy its context first: then ours are told to let
/// go of theirs, while the services behind these still work.
class anchorage {
public:
    /// Where everything made on this executor is anchored. Creates the services of Asio that we
    /// use, if they are not there yet: who is created last is shut down first, and that must be us.
    static std::shared_ptr<anchorage> of(const runtime::executor& on);

private:
    friend class anchored;
    class service;

    void shut_down() noexcept;

    std::mutex mutex_;
    anchored* first_ = nullptr;
    bool gone_ = false;
};

/// The base of such an object. The class derived from it calls anchor() when it is complete and
/// cast_off() first of all in its destructor.
class anchored {
protected:
    explicit anchored(std::shared_ptr<anchorage> at) noexcept : at_{std::move(at)} {}
    anchored(const anchored&) = delete;
    anchored& operator=(const anchored&) = delete;
    ~anchored() = default;

    void anchor() noexcept;
    void cast_off() noexcept;

    /// The context goes: destroy what belongs to it. Once at most, and never after cast_off().
    virtual void context_gone() noexcept = 0;

private:
    friend class anchorage;

    const std::shared_ptr<anchorage> at_;
    anchored* before_ = nullptr;
    anchored* after_ = nullptr;
    bool linked_ = false;
};

}  // namespace holdfast::net
