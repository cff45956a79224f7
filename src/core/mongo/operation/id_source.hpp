#pragma once
#include "holdfast/bson/object_id.hpp"

namespace holdfast::core::mongo {

/// Fresh ids for documents that have none.
class id_source {
public:
    virtual ~id_source() = default;
    virtual bson::object_id next() = 0;
};

}  // namespace holdfast::core::mongo
