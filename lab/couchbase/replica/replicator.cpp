#include "lab/couchbase/replica/replicator.hpp"

#include "lab/couchbase/kv/sync_writes.hpp"

namespace holdfast::lab::couchbase {

struct replicator::deadlines {
    explicit deadlines(node& of) : on{of}, news{of.world} {}

    node& on;
    runtime::event news;
    bool stopped = false;
};

replicator::replicator(node& of)
    : node_{of}, tasks_{of.world}, deadlines_{std::make_shared<deadlines>(of)}
{
    node_.on_change = [this](const std::string& bucket, std::uint16_t id) { mark(bucket, id); };
    tasks_.start(watch(deadlines_));
    connect_peers();
}

replicator::~replicator()
{
    node_.on_change = nullptr;
    stop();
}

runtime::awaitable<void> replicator::watch(std::shared_ptr<deadlines> of)
{
    while (!of->stopped) {
        const std::uint64_t seen = of->news.count();
        const time_point next = of->on.frozen ? runtime::never : end_late_sync_writes(of->on);
        const auto end = co_await of->news.wait(seen, next);
        if (end == runtime::wait_end::cancelled)
            break;
    }
}

void replicator::connect_peers()
{
    for (const auto& [id, where] : node_.peers) {
        if (id == node_.id || links_.contains(id))
            continue;
        auto made = std::make_shared<link>(node_, id);
        links_.emplace(id, made);
        tasks_.start(link::run(made));
    }
    mark_all();
}

void replicator::mark(const std::string& bucket, std::uint16_t id)
{
    for (const auto& [to, one] : links_)
        one->mark(bucket, id);
    if (!node_.sync_writes.empty())
        deadlines_->news.notify();
}

void replicator::mark_all()
{
    for (const auto& [to, one] : links_)
        one->mark_all();
}

void replicator::wake()
{
    for (const auto& [to, one] : links_)
        one->wake();
    deadlines_->news.notify();
}

void replicator::stop()
{
    deadlines_->stopped = true;
    deadlines_->news.notify();
    for (const auto& [to, one] : links_)
        one->stop();
    tasks_.stop();
}

}  // namespace holdfast::lab::couchbase
