#include "core/pool/pool.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/log.hpp"           // offence: layers
#include "runtime/runtime.hpp"        // offence: layers
#include "shell/execute.hpp"          // offence: layers
#include "../../shell/execute.hpp"    // offence: layers
