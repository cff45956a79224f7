#include "net/entropy.hpp"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace holdfast::net {
namespace {

void fetch(std::span<std::uint8_t> into) noexcept
{
    while (!into.empty()) {
        const auto got = ::getrandom(into.data(), into.size(), 0);
        if (got > 0)  // anything else is a signal, and this is asked for again
            into = into.subspan(static_cast<std::size_t>(got));
    }
}

}  // namespace

/// Lies on a page that is all zeros in a child after a fork: there, nothing is left.
struct entropy::stock {
    std::size_t left = 0;
    std::uint8_t bytes[504] = {};
};

entropy::entropy() noexcept : stock_{nullptr}
{
    void* const page = ::mmap(nullptr, sizeof(stock), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (::madvise(page, sizeof(stock), MADV_WIPEONFORK) == 0)
        stock_ = new (page) stock;
    else
        ::munmap(page, sizeof(stock));
}

entropy::~entropy()
{
    if (stock_ != nullptr)
        ::munmap(stock_, sizeof(stock));
}

void entropy::draw(std::span<std::uint8_t> into) noexcept
{
    if (stock_ == nullptr || into.size() > sizeof(stock_->bytes) / 4)
        return fetch(into);
    const std::scoped_lock lock{mutex_};
    if (stock_->left < into.size()) {
        fetch(stock_->bytes);
        stock_->left = sizeof(stock_->bytes);
    }
    stock_->left -= into.size();
    std::uint8_t* const taken = stock_->bytes + stock_->left;
    std::copy_n(taken, into.size(), into.data());
    std::memset(taken, 0, into.size());  // what was handed out is kept nowhere
}

}  // namespace holdfast::net
