#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/data/optime.hpp"
#include "lab/mongo/node/command.hpp"
#include "runtime/awaitable.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::lab::mongo {

/// Whether a write concern is met.
enum class concern_state : std::uint8_t { met, pending, impossible };

/// What a node is a member of: a replica set, or nothing. Commands ask it who they are.
class membership {
public:
    virtual ~membership() = default;

    virtual bool in_set() const noexcept = 0;
    virtual bool writable() const noexcept = 0;  // a primary, or a standalone
    virtual bool readable() const noexcept = 0;  // a primary or secondary, or a standalone
    virtual bool arbiter() const noexcept = 0;
    virtual std::int64_t term() const noexcept = 0;

    /// The part of a hello that is about the set: setName, hosts, isWritablePrimary, lastWrite...
    virtual void describe(bson::builder& hello, bool legacy) const = 0;

    virtual concern_state check(const optime& wrote, const write_concern& concern) const = 0;
    /// Impossible concerns are refused before they are waited for: 100, 79.
    virtual result<void> accepts(const write_concern& concern) const = 0;
    virtual write_concern default_concern() const = 0;
    /// What a majority has, and will not be lost.
    virtual optime committed() const noexcept = 0;

    /// The node has written: its own position has moved.
    virtual void wrote(const optime& at) = 0;

    /// replSetGetStatus, replSetStepDown, replSetHeartbeat and the like.
    virtual std::span<const command> commands() const noexcept = 0;

    /// Hands a command on to the primary: its whole reply, whatever that says. 10107 if there is
    /// none to ask.
    virtual runtime::awaitable<result<bson::document>> ask_primary(const request& what);
};

/// A server that is alone.
class standalone final : public membership {
public:
    bool in_set() const noexcept override { return false; }
    bool writable() const noexcept override { return true; }
    bool readable() const noexcept override { return true; }
    bool arbiter() const noexcept override { return false; }
    std::int64_t term() const noexcept override { return -1; }
    void describe(bson::builder& hello, bool legacy) const override;
    concern_state check(const optime& wrote, const write_concern& concern) const override;
    result<void> accepts(const write_concern& concern) const override;
    write_concern default_concern() const override { return {}; }
    optime committed() const noexcept override { return last_; }
    void wrote(const optime& at) override { last_ = at; }
    std::span<const command> commands() const noexcept override { return {}; }

private:
    optime last_ = {};
};

}  // namespace holdfast::lab::mongo
