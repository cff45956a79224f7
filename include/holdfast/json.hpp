#pragma once

/// JSON: as a text, and as your structs. boost::json::value is mapped by holdfast/json/boost.hpp,
/// which is not included here.
#include "holdfast/json/codec.hpp"
#include "holdfast/json/containers.hpp"
#include "holdfast/json/mapping.hpp"
#include "holdfast/json/raw_json.hpp"
#include "holdfast/json/reader.hpp"
#include "holdfast/json/writer.hpp"
