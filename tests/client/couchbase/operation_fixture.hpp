#pragma once
#include "client/couchbase/kv_scene.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace holdfast::proof {

/// A client of a cluster in the simulator, and its default collection.
class operation_fixture : public ::testing::Test {
protected:
    explicit operation_fixture(kv_scene_options what = {.nodes = 2}) : scene{std::move(what)} {}

    /// The operation must succeed.
    template <class T>
    T good(runtime::awaitable<result<T>> what)
    {
        const auto run = scene.run(std::move(what));
        if (!run->good())
            ADD_FAILURE() << run->explain();
        return run->good() ? *std::move(*run->outcome) : T{};
    }
    /// It must fail, or so one sees by the code.
    template <class T>
    error_code code(runtime::awaitable<result<T>> what)
    {
        return scene.run(std::move(what))->code();
    }

    kv_scene scene;
    couchbase::collection all = [this] {
        scene.connect();
        return scene.documents();
    }();
};

}  // namespace holdfast::proof
