#pragma once
#include "lab/mongo/node/membership.hpp"

namespace holdfast::lab::mongo {

/// What a router is a member of: nothing. It says "isdbgrid", and knows no write of its own.
class routing final : public membership {
public:
    bool in_set() const noexcept override { return false; }
    bool writable() const noexcept override { return true; }
    bool readable() const noexcept override { return true; }
    bool arbiter() const noexcept override { return false; }
    std::int64_t term() const noexcept override { return -1; }
    void describe(bson::builder& hello, bool legacy) const override
    {
        hello.add(legacy ? "ismaster" : "isWritablePrimary", true).add("msg", "isdbgrid");
    }
    concern_state check(const optime&, const write_concern&) const override
    {
        return concern_state::met;
    }
    result<void> accepts(const write_concern&) const override { return {}; }
    write_concern default_concern() const override { return {}; }
    optime committed() const noexcept override { return {}; }
    void wrote(const optime&) override {}
    std::span<const command> commands() const noexcept override { return {}; }
};

}  // namespace holdfast::lab::mongo
