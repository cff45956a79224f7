#include "lab/mongo/node/first_data.hpp"

namespace holdfast::lab::mongo {

void write_first_data(disk& on, const server_version& version, bson::datetime wall)
{
    constexpr std::string_view place = "admin.system.version";
    if (on.data().find(place))
        return;
    const bson::document feature = bson::doc("_id", "featureCompatibilityVersion", "version",
                                             version.family());
    (void)on.write({.op = 'i', .ns = place, .o = feature.view()}, 0, wall);
}

}  // namespace holdfast::lab::mongo
