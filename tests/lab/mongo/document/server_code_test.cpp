#include "lab/mongo/document/server_code.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::server_code_test {
namespace {

TEST(server_code, code_names_are_those_of_the_server)
{
    const struct {
        server_code code;
        int number;
        const char* name;
    } rows[] = {
        {server_code::internal_error, 1, "InternalError"},
        {server_code::bad_value, 2, "BadValue"},
        {server_code::failed_to_parse, 9, "FailedToParse"},
        {server_code::unauthorized, 13, "Unauthorized"},
        {server_code::type_mismatch, 14, "TypeMismatch"},
        {server_code::authentication_failed, 18, "AuthenticationFailed"},
        {server_code::illegal_operation, 20, "IllegalOperation"},
        {server_code::namespace_not_found, 26, "NamespaceNotFound"},
        {server_code::index_not_found, 27, "IndexNotFound"},
        {server_code::roles_not_related, 32, "RolesNotRelated"},
        {server_code::conflicting_update_operators, 40, "ConflictingUpdateOperators"},
        {server_code::cursor_not_found, 43, "CursorNotFound"},
        {server_code::namespace_exists, 48, "NamespaceExists"},
        {server_code::max_time_ms_expired, 50, "MaxTimeMSExpired"},
        {server_code::command_not_found, 59, "CommandNotFound"},
        {server_code::immutable_field, 66, "ImmutableField"},
        {server_code::invalid_namespace, 73, "InvalidNamespace"},
        {server_code::unknown_repl_write_concern, 79, "UnknownReplWriteConcern"},
        {server_code::shutdown_in_progress, 91, "ShutdownInProgress"},
        {server_code::unsatisfiable_write_concern, 100, "UnsatisfiableWriteConcern"},
        {server_code::document_validation_failure, 121, "DocumentValidationFailure"},
        {server_code::cursor_in_use, 143, "CursorInUse"},
        {server_code::unrecognized_expression, 168, "InvalidPipelineOperator"},
        {server_code::primary_stepped_down, 189, "PrimarySteppedDown"},
        {server_code::no_such_transaction, 251, "NoSuchTransaction"},
        {server_code::change_stream_fatal_error, 280, "ChangeStreamFatalError"},
        {server_code::api_strict_error, 323, "APIStrictError"},
        {server_code::ingress_request_rate_limit_exceeded, 462, "IngressRequestRateLimitExceeded"},
        {server_code::not_writable_primary, 10107, "NotWritablePrimary"},
        {server_code::duplicate_key, 11000, "DuplicateKey"},
        {server_code::interrupted, 11601, "Interrupted"},
        {server_code::not_primary_no_secondary_ok, 13435, "NotPrimaryNoSecondaryOk"},
        {server_code::unrecognized_stage, 40324, "Location40324"},
        {server_code::undefined_variable, 17276, "Location17276"},
        {server_code::unknown_field, 40415, "IDLUnknownField"},
        {server_code::user_already_exists, 51003, "Location51003"},
    };
    for (const auto& r : rows) {
        EXPECT_EQ(static_cast<int>(r.code), r.number) << r.name;
        EXPECT_EQ(code_name(r.number), r.name);
    }
    EXPECT_EQ(code_name(112), "WriteConflict");
    EXPECT_EQ(code_name(9001), "SocketException");
    EXPECT_EQ(code_name(99), "Location99");
    EXPECT_EQ(code_name(1 << 30), "Location1073741824");
}

TEST(server_code, code_makes_an_error_with_its_name)
{
    const error made = refuse(server_code::bad_value, "no");
    EXPECT_EQ(made.code().value(), 2);
    EXPECT_EQ(made.message(), "no");
    EXPECT_EQ(&made.code().category(), &server_category());
    EXPECT_EQ(made.code().message(), "BadValue");
    EXPECT_EQ(refuse(51091, "no").code().value(), 51091);
}

}  // namespace
}  // namespace holdfast::lab::server_code_test
