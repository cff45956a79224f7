#pragma once

/// Everything about BSON but the struct mapping, which needs Boost.Describe.
#include "holdfast/bson/binary_vector.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/canonical.hpp"
#include "holdfast/bson/chrono.hpp"
#include "holdfast/bson/codec.hpp"
#include "holdfast/bson/containers.hpp"
#include "holdfast/bson/decimal128.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/uuid.hpp"
#include "holdfast/bson/validate.hpp"
#include "holdfast/bson/variant.hpp"
#include "holdfast/bson/view.hpp"
