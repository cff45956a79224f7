#pragma once
#include "runtime/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// A name server on 127.0.0.1, by UDP and TCP, in a thread of its own. It knows the records that it
/// is given, which may change at any time, and denies all others. Names are in lower case and have
/// no dot at the end.
class dns_stub {
public:
    using message = std::vector<std::uint8_t>;

    enum class manner {
        answers,
        is_silent,  // takes questions, and that is all
        holds,  // answers after behave() has changed this mode
        truncates,  // by UDP; so the question is to be asked again by TCP
        fails,  // SERVFAIL
        refuses,
    };

    dns_stub();
    ~dns_stub();

    /// "127.0.0.1:40001"
    std::string address() const;

    void add_address(std::string_view name, std::string_view address, std::uint32_t ttl = 60);
    void add_srv(std::string_view name, const runtime::srv_record& record);
    /// One record of several strings.
    void add_txt(std::string_view name, const std::vector<std::string>& strings);
    void add_alias(std::string_view name, std::string_view of);
    void remove(std::string_view name);

    void behave(manner mode);

    /// Every answer passes through it, in the thread of the server, which may well outlive what is
    /// captured by reference.
    void mangle(std::function<void(message&)> change);

    /// How many questions have come, by UDP and TCP, and how many of them by TCP.
    std::size_t questions() const;
    std::size_t questions_by_tcp() const;

    /// Waits until so many have come; false if they do not.
    bool wait_for_questions(std::size_t count) const;

private:
    struct server;
    std::unique_ptr<server> server_;
};

}  // namespace holdfast::proof
