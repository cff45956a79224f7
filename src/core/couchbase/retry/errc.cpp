#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace holdfast::couchbase {

namespace {

struct row {
    errc code;
    std::string_view message;
};

constexpr row messages[] = {
    {errc::request_canceled, "the request was cancelled"},
    {errc::invalid_argument, "invalid argument"},
    {errc::service_not_available, "the service is not available"},
    {errc::internal_server_failure, "internal failure of the server"},
    {errc::authentication_failure, "authentication failed"},
    {errc::temporary_failure, "temporary failure of the server"},
    {errc::parsing_failure, "the statement could not be parsed"},
    {errc::cas_mismatch, "the CAS does not match"},
    {errc::bucket_not_found, "bucket not found"},
    {errc::collection_not_found, "collection not found"},
    {errc::unsupported_operation, "the server does not support this operation"},
    {errc::ambiguous_timeout, "timed out, and the change may have been made"},
    {errc::unambiguous_timeout, "timed out, and nothing was changed"},
    {errc::feature_not_available, "the feature is not available"},
    {errc::scope_not_found, "scope not found"},
    {errc::index_not_found, "index not found"},
    {errc::index_exists, "the index exists"},
    {errc::encoding_failure, "the content could not be encoded"},
    {errc::decoding_failure, "the response could not be decoded"},
    {errc::rate_limited, "a rate limit is exceeded"},
    {errc::quota_limited, "a quota is exceeded"},
    {errc::document_not_found, "document not found"},
    {errc::document_irretrievable, "no copy of the document could be read"},
    {errc::document_locked, "the document is locked"},
    {errc::value_too_large, "the value is too large"},
    {errc::document_exists, "the document exists"},
    {errc::durability_level_not_available, "the durability level is not available"},
    {errc::durability_impossible, "the durability level is impossible at present"},
    {errc::durability_ambiguous, "the durable write may or may not have been made"},
    {errc::durable_write_in_progress, "a durable write is in progress"},
    {errc::durable_write_re_commit_in_progress, "a durable write is committed again"},
    {errc::path_not_found, "path not found"},
    {errc::path_mismatch, "the path does not fit the document"},
    {errc::path_invalid, "invalid path"},
    {errc::path_too_big, "the path is too long"},
    {errc::path_too_deep, "the path is too deep"},
    {errc::value_too_deep, "the value would make the document too deep"},
    {errc::value_invalid, "the value cannot be inserted here"},
    {errc::document_not_json, "the document is not JSON"},
    {errc::number_too_big, "the number is out of range"},
    {errc::delta_invalid, "invalid delta"},
    {errc::path_exists, "the path exists"},
    {errc::xattr_unknown_macro, "unknown macro of extended attributes"},
    {errc::xattr_invalid_key_combo, "extended attributes that cannot be used together"},
    {errc::xattr_unknown_virtual_attribute, "unknown virtual attribute"},
    {errc::xattr_cannot_modify_virtual_attribute, "a virtual attribute cannot be changed"},
    {errc::xattr_no_access, "no access to the extended attribute"},
    {errc::document_not_locked, "the document is not locked"},
    {errc::cannot_revive_living_document, "the document is not a deleted one"},
    {errc::mutation_token_outdated, "the mutation token is of another history"},
    {errc::planning_failure, "the statement could not be planned"},
    {errc::index_failure, "failure of an index"},
    {errc::prepared_statement_failure, "failure of a prepared statement"},
    {errc::dml_failure, "the change by a statement failed"},
    {errc::compilation_failure, "the statement could not be compiled"},
    {errc::job_queue_full, "the job queue is full"},
    {errc::dataset_not_found, "dataset not found"},
    {errc::dataverse_not_found, "dataverse not found"},
    {errc::dataset_exists, "the dataset exists"},
    {errc::dataverse_exists, "the dataverse exists"},
    {errc::link_not_found, "link not found"},
    {errc::link_exists, "the link exists"},
    {errc::index_not_ready, "the index is not ready"},
    {errc::consistency_mismatch, "the index cannot be as consistent as was asked"},
    {errc::view_not_found, "view not found"},
    {errc::design_document_not_found, "design document not found"},
    {errc::collection_exists, "the collection exists"},
    {errc::scope_exists, "the scope exists"},
    {errc::user_not_found, "user not found"},
    {errc::bucket_exists, "the bucket exists"},
    {errc::bucket_not_flushable, "the bucket cannot be flushed"},
    {errc::generic_failure, "failure"},
    {errc::retry_strategy_failure, "the retry strategy failed"},
    {errc::closed, "the cluster is closed"},
    {errc::unknown_host, "the host is unknown"},
};

class couchbase_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "couchbase"; }
    std::string message(int value) const override
    {
        const auto found = std::ranges::find(messages, static_cast<errc>(value), &row::code);
        return std::string{found == std::end(messages) ? "unknown failure" : found->message};
    }
};

}  // namespace

const boost::system::error_category& category() noexcept
{
    static const couchbase_category instance;
    return instance;
}

}  // namespace holdfast::couchbase
