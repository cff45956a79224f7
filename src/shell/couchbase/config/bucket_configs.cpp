#include "shell/couchbase/config/bucket_configs.hpp"

#include "core/uri/host.hpp"
#include "shell/planted.hpp"

namespace holdfast::shell::couchbase {

core::couchbase::offer_outcome bucket_configs::offer(std::string_view text, const endpoint& from)
{
    const std::string host = core::uri::split_host(from.value()).host;
    const std::scoped_lock lock{mutex_};
    if (planted.takes_old_configurations)
        intake_ = {};
    return intake_.consider({text, host, bucket_});
}

core::couchbase::cluster_config_ptr bucket_configs::current() const
{
    const std::scoped_lock lock{mutex_};
    return intake_.current();
}

std::optional<core::couchbase::config_revision> bucket_configs::known_revision() const
{
    const std::scoped_lock lock{mutex_};
    const auto& known = intake_.current();
    if (!known || !known->revision.epoch || intake_.starts_over())
        return std::nullopt;
    return known->revision;
}

void bucket_configs::start_over()
{
    const std::scoped_lock lock{mutex_};
    intake_.start_over();
}

bool bucket_configs::is_newer(const core::couchbase::config_revision& revision) const
{
    const std::scoped_lock lock{mutex_};
    return !intake_.current() || revision > intake_.current()->revision;
}

}  // namespace holdfast::shell::couchbase
