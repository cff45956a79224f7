#include "core/pool/errc.hpp"
#include "core/pool/pool.hpp"

#include <string>
#include <utility>

namespace holdfast::core {

std::string pinned_connections::text(std::size_t in_use) const
{
    std::string text;
    auto others = static_cast<std::int64_t>(in_use);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        text += ", connections in use by " + std::string{reasons_[i]} + ": " +
                std::to_string(counts_[i]);
        others -= counts_[i];
    }
    return text + ", connections in use by other operations: " + std::to_string(others);
}

error connection_pool::timed_out() const
{
    std::string text = "Timed out while checking out a connection from connection pool";
    if (!settings_.pin_reasons.empty())
        text += ". maxPoolSize: " + std::to_string(settings_.max_size) + pinned_.text(in_use());
    std::string numbers = std::to_string(in_use()) + " connections are in use, " +
                          std::to_string(opening()) + " are being opened, " +
                          std::to_string(waiting_.size()) + " others wait; maxPoolSize " +
                          std::to_string(settings_.max_size);
    return error{pool_errc::timed_out, std::move(text)}.with_context("pool", std::move(numbers));
}

}  // namespace holdfast::core
