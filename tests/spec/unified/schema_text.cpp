#include "schema.hpp"

namespace holdfast::spec::unified {

// Of schema version 1.28, which takes all files of earlier versions 1.x.
const std::string_view unified_grammar_text = R"(
file = {description: string, schemaVersion: version, runOnRequirements?: [requirement+],
        createEntities?: [entity+], initialData?: [collectionData+], tests: [test+],
        _yamlAnchors?: object}

requirement = {+ minServerVersion?: version, maxServerVersion?: version, topologies?: [topology+],
               serverless?: "require" | "forbid" | "allow", serverParameters?: {+ ...},
               auth?: bool, authMechanism?: string,
               csfle?: bool | {+ minLibmongocryptVersion?: version}}
topology = "single" | "replicaset" | "sharded" | "sharded-replicaset" | "load-balanced"

entity = {1 client?: client, database?: database, collection?: collection, session?: session,
          bucket?: bucket, thread?: {id: string}, clientEncryption?: encryption}
client = {id: string, uriOptions?: object, useMultipleMongoses?: bool, observeEvents?: [eventName+],
          ignoreCommandMonitoringEvents?: [string+], observeSensitiveCommands?: bool,
          storeEventsAsEntities?: [{id: string, events: [storedName+]}+],
          observeLogMessages?: {+ command?: level, topology?: level, serverSelection?: level,
                                connection?: level},
          observeTracingMessages?: {enableCommandPayload?: bool},
          serverApi?: {version: string, strict?: bool, deprecationErrors?: bool},
          autoEncryptOpts?: autoEncryption, awaitMinPoolSizeMS?: int}
database = {id: string, client: string, databaseName: string, databaseOptions?: spaceOptions}
collection = {id: string, database: string, collectionName: string,
              collectionOptions?: spaceOptions}
session = {id: string, client: string, sessionOptions?: object}
bucket = {id: string, database: string, bucketOptions?: object}
spaceOptions = {readConcern?: object, readPreference?: object, writeConcern?: object,
                timeoutMS?: int}

eventName = "commandStartedEvent" | "commandSucceededEvent" | "commandFailedEvent"
          | "poolCreatedEvent" | "poolReadyEvent" | "poolClearedEvent" | "poolClosedEvent"
          | "connectionCreatedEvent" | "connectionReadyEvent" | "connectionClosedEvent"
          | "connectionCheckOutStartedEvent" | "connectionCheckOutFailedEvent"
          | "connectionCheckedOutEvent" | "connectionCheckedInEvent"
          | "connectionPendingResponseStarted" | "connectionPendingResponseSucceeded"
          | "connectionPendingResponseFailed"
          | "serverDescriptionChangedEvent" | "topologyDescriptionChangedEvent"
          | "topologyOpeningEvent" | "topologyClosedEvent" | "serverHeartbeatStartedEvent"
          | "serverHeartbeatSucceededEvent" | "serverHeartbeatFailedEvent"
storedName = "CommandStartedEvent" | "CommandSucceededEvent" | "CommandFailedEvent"
           | "PoolCreatedEvent" | "PoolReadyEvent" | "PoolClearedEvent" | "PoolClosedEvent"
           | "ConnectionCreatedEvent" | "ConnectionReadyEvent" | "ConnectionClosedEvent"
           | "ConnectionCheckOutStartedEvent" | "ConnectionCheckOutFailedEvent"
           | "ConnectionCheckedOutEvent" | "ConnectionCheckedInEvent"
           | "ServerDescriptionChangedEvent" | "TopologyDescriptionChangedEvent"
level = "emergency" | "alert" | "critical" | "error" | "warning" | "notice" | "info" | "debug"
      | "trace"

encryption = {id: string, clientEncryptionOpts: {keyVaultClient: string, keyVaultNamespace: string,
                                                 kmsProviders: kmsProviders, keyExpirationMS?: int}}
autoEncryption = {keyVaultNamespace: string, kmsProviders: kmsProviders,
                  bypassAutoEncryption?: bool, schemaMap?: {* : object}, extraOptions?: object,
                  encryptedFieldsMap?: {* : object}, bypassQueryAnalysis?: bool,
                  keyExpirationMS?: int}
kmsProviders = {aws*?: {accessKeyId?: credential, secretAccessKey?: credential,
                        sessionToken?: credential},
                azure*?: {tenantId?: credential, clientId?: credential, clientSecret?: credential,
                          identityPlatformEndpoint?: credential},
                gcp*?: {email?: credential, privateKey?: credential, endpoint?: credential},
                kmip*?: {endpoint?: credential}, local*?: {key?: credential}}
credential = string | {$$placeholder: any}

collectionData = {databaseName: string, collectionName: string, documents: [object],
                  createOptions?: {!writeConcern, ...}}

test = {description: string, runOnRequirements?: [requirement+], skipReason?: string,
        operations: [operation], expectEvents?: [expectedEvents+],
        expectLogMessages?: [expectedMessages+], expectTracingMessages?: [expectedSpans+],
        outcome?: [collectionData+]}
operation = {name: string, object: string, arguments?: object, ignoreResultAndError?: bool,
             expectError?: expectedError, expectResult?: any, saveResultAsEntity?: string,
             !expectError&expectResult, !expectError&saveResultAsEntity,
             !ignoreResultAndError&expectResult, !ignoreResultAndError&expectError,
             !ignoreResultAndError&saveResultAsEntity}
expectedError = {+ isError?: true, isClientError?: bool, isTimeoutError?: bool,
                 errorContains?: string, errorCode?: int, errorCodeName?: string,
                 errorLabelsContain?: [string+], errorLabelsOmit?: [string+], writeErrors?: object,
                 writeConcernErrors?: [object], errorResponse?: object, expectResult?: any}

expectedEvents = {client: string, eventType?: "command", events: [commandEvent],
                  ignoreExtraEvents?: bool}
               | {client: string, eventType: "cmap", events: [poolEvent], ignoreExtraEvents?: bool}
               | {client: string, eventType: "sdam", events: [topologyEvent],
                  ignoreExtraEvents?: bool}
commandEvent = {1 commandStartedEvent?: {command?: object, commandName?: string,
                    databaseName?: string, hasServiceId?: bool, hasServerConnectionId?: bool},
                  commandSucceededEvent?: {reply?: object, commandName?: string,
                    databaseName?: string, hasServiceId?: bool, hasServerConnectionId?: bool},
                  commandFailedEvent?: {commandName?: string, databaseName?: string,
                    hasServiceId?: bool, hasServerConnectionId?: bool}}
anyEvent = commandEvent | poolEvent | topologyEvent
poolEvent = {1 poolCreatedEvent?: {}, poolReadyEvent?: {}, poolClosedEvent?: {},
               poolClearedEvent?: {hasServiceId?: bool, interruptInUseConnections?: bool},
               connectionCreatedEvent?: {}, connectionReadyEvent?: {},
               connectionClosedEvent?: {reason?: string}, connectionCheckOutStartedEvent?: {},
               connectionCheckOutFailedEvent?: {reason?: string}, connectionCheckedOutEvent?: {},
               connectionCheckedInEvent?: {}, connectionPendingResponseStarted?: {},
               connectionPendingResponseSucceeded?: {},
               connectionPendingResponseFailed?: {reason?: string}}
topologyEvent = {1 serverDescriptionChangedEvent?: {previousDescription?: {type?: serverType},
                                                    newDescription?: {type?: serverType}},
                   topologyDescriptionChangedEvent?: {previousDescription?: {type?: topologyType},
                                                      newDescription?: {type?: topologyType}},
                   serverHeartbeatStartedEvent?: {awaited?: bool},
                   serverHeartbeatSucceededEvent?: {awaited?: bool},
                   serverHeartbeatFailedEvent?: {awaited?: bool},
                   topologyOpeningEvent?: {}, topologyClosedEvent?: {}}
serverType = "Standalone" | "Mongos" | "PossiblePrimary" | "RSPrimary" | "RSSecondary" | "RSOther"
           | "RSArbiter" | "RSGhost" | "LoadBalancer" | "Unknown"
topologyType = "Single" | "Unknown" | "ReplicaSetNoPrimary" | "ReplicaSetWithPrimary" | "Sharded"
             | "LoadBalanced"

expectedMessages = {client: string, messages: [message], ignoreMessages?: [message],
                    ignoreExtraMessages?: bool}
message = {level: level, component: "command" | "topology" | "serverSelection" | "connection",
           data: object, failureIsRedacted?: bool}
expectedSpans = {client: string, spans: [span+], ignoreExtraSpans?: bool}
span = {name: string, attributes: object, nested?: [span+]}
)";

}  // namespace holdfast::spec::unified
