#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "runtime/world.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// A MongoDB server that says what it is told to say, in whatever world it is put. It knows hello
/// and ping; everything else, and every mischief, is scripted by its test.
class scripted_server {
public:
    /// Gets the command, gives the reply. An empty document: close the connection instead.
    using answer = std::function<bson::document(bson::view command)>;

    scripted_server();

    void on(std::string command, answer what);

    /// Takes connections until the world ends or the port cannot be had.
    runtime::awaitable<void> serve(runtime::world& in, runtime::destination where);

    /// Names of the commands received, in their order.
    const std::vector<std::string>& received() const noexcept;
    std::size_t count(std::string_view command) const noexcept;
    std::size_t connections() const noexcept;

private:
    struct script;
    std::shared_ptr<script> script_;  // outlives the server, if coroutines of it do
};

}  // namespace holdfast::proof
