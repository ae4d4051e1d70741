//! Keys and values of labels, annotations and finalizers; their only home.
//!
//! Upstream counterparts: `pkg/apis/pipeline/register.go`, `pkg/pod`, `pkg/resolution`, `pkg/spire`.

/// The group of Tekton's own kinds.
pub const GROUP: &str = "tekton.dev";
/// The group of ResolutionRequest.
pub const RESOLUTION_GROUP: &str = "resolution.tekton.dev";

/// Label: name of the StepAction.
pub const STEP_ACTION: &str = "tekton.dev/stepAction";
/// Label: name of the Task.
pub const TASK: &str = "tekton.dev/task";
/// Label: name of the TaskRun.
pub const TASK_RUN: &str = "tekton.dev/taskRun";
/// Label: UID of the TaskRun.
pub const TASK_RUN_UID: &str = "tekton.dev/taskRunUID";
/// Label: name of the Pipeline.
pub const PIPELINE: &str = "tekton.dev/pipeline";
/// Label: name of the PipelineRun.
pub const PIPELINE_RUN: &str = "tekton.dev/pipelineRun";
/// Label: UID of the PipelineRun.
pub const PIPELINE_RUN_UID: &str = "tekton.dev/pipelineRunUID";
/// Label: name of the task in the Pipeline.
pub const PIPELINE_TASK: &str = "tekton.dev/pipelineTask";
/// Label: name of the Run.
pub const RUN: &str = "tekton.dev/run";
/// Label: name of the CustomRun.
pub const CUSTOM_RUN: &str = "tekton.dev/customRun";
/// Label: whether the task is one of the `tasks` or `finally`.
pub const MEMBER_OF: &str = "tekton.dev/memberOf";
/// Value of [`MEMBER_OF`] for ordinary tasks.
pub const MEMBER_OF_TASKS: &str = "tasks";
/// Value of [`MEMBER_OF`] for finally tasks.
pub const MEMBER_OF_FINALLY: &str = "finally";
/// Value of `managedBy` for which Tekton's own controller is in charge.
pub const MANAGED_BY_TEKTON: &str = "tekton.dev/pipeline";

/// Label: what manages the object.
pub const APP_MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Default value of [`APP_MANAGED_BY`].
pub const APP_MANAGED_BY_DEFAULT: &str = "tekton-pipelines";
/// Label: which instance the object belongs to.
pub const APP_INSTANCE: &str = "app.kubernetes.io/instance";
/// Label: which part of an application the object is.
pub const APP_COMPONENT: &str = "app.kubernetes.io/component";

/// Annotation: the release that made the pod.
pub const RELEASE: &str = "pipeline.tekton.dev/release";
/// Annotation and label: the affinity assistant that keeps pods on one node.
pub const AFFINITY_ASSISTANT: &str = "pipeline.tekton.dev/affinity-assistant";
/// Annotation: what a failure of the task means for its PipelineRun.
pub const PIPELINE_TASK_ON_ERROR: &str = "pipeline.tekton.dev/pipeline-task-on-error";

/// Annotation: `READY` lets the first step start.
pub const READY: &str = "tekton.dev/ready";
/// Annotation: `CANCEL` stops the running step.
pub const CANCEL: &str = "tekton.dev/cancel";
/// Annotation: whether claims made from templates go away with their PipelineRun.
pub const AUTO_CLEANUP_PVC: &str = "tekton.dev/auto-cleanup-pvc";
/// Annotation: the signature of a trusted resource.
pub const SIGNATURE: &str = "tekton.dev/signature";
/// Prefix of the annotation of a Secret with credentials for a registry.
pub const DOCKER_CREDENTIALS_PREFIX: &str = "tekton.dev/docker-";
/// Prefix of the annotation of a Secret with credentials for a Git server.
pub const GIT_CREDENTIALS_PREFIX: &str = "tekton.dev/git-";
/// Annotation: the trace a TaskRun belongs to.
pub const TASK_RUN_SPAN_CONTEXT: &str = "tekton.dev/taskrunSpanContext";
/// Annotation: the trace a PipelineRun belongs to.
pub const PIPELINE_RUN_SPAN_CONTEXT: &str = "tekton.dev/pipelinerunSpanContext";
/// Annotation: the trace a CustomRun belongs to.
pub const CUSTOM_RUN_SPAN_CONTEXT: &str = "tekton.dev/customrunSpanContext";
/// Annotation: whether the results were verified with SPIRE.
pub const SPIRE_VERIFIED: &str = "tekton.dev/spire-verified";
/// Annotation: the hash of a status, for SPIRE.
pub const STATUS_HASH: &str = "tekton.dev/status-hash";
/// Annotation: the signature of [`STATUS_HASH`].
pub const STATUS_HASH_SIGNATURE: &str = "tekton.dev/status-hash-sig";
/// Annotation: the controller's SPIRE certificate.
pub const CONTROLLER_SVID: &str = "tekton.dev/controller-svid";

/// Prefix of annotations that belong to Tekton Chains and are not handed down.
pub const CHAINS_PREFIX: &str = "chains.tekton.dev";
/// Finalizer of Tekton Chains.
pub const CHAINS_FINALIZER: &str = "chains.tekton.dev/finalizer";

/// Annotation: fields of a v1beta1 Task that v1 does not have.
pub const V1BETA1_TASK_DEPRECATIONS: &str = "tekton.dev/v1beta1.task-deprecations";
/// Annotation: resources of a v1beta1 object.
pub const V1BETA1_RESOURCES: &str = "tekton.dev/v1beta1Resources";
/// Annotation: resources in the status of a v1beta1 TaskRun.
pub const V1BETA1_RESOURCES_STATUS: &str = "tekton.dev/v1beta1ResourcesStatus";
/// Annotation: results from resources of a v1beta1 TaskRun.
pub const V1BETA1_RESOURCES_RESULT: &str = "tekton.dev/v1beta1ResourcesResult";
/// Annotation: cloud events in the status of a v1beta1 TaskRun.
pub const V1BETA1_CLOUD_EVENTS: &str = "tekton.dev/v1beta1CloudEvents";

/// Label: the resolver that a ResolutionRequest is for.
pub const RESOLVER_TYPE: &str = "resolution.tekton.dev/type";
/// Annotation: the media type of resolved data.
pub const CONTENT_TYPE: &str = "resolution.tekton.dev/content-type";
/// Annotation: whether the data came from the cache.
pub const CACHED: &str = "resolution.tekton.dev/cached";
/// Annotation: when the data entered the cache.
pub const CACHE_TIMESTAMP: &str = "resolution.tekton.dev/cache-timestamp";
/// Annotation: the resolver whose cache it was.
pub const CACHE_RESOLVER_TYPE: &str = "resolution.tekton.dev/cache-resolver-type";
/// Annotation: whether the cache was read or written.
pub const CACHE_OPERATION: &str = "resolution.tekton.dev/cache-operation";
/// How the steps are executed; `hermetic` asks for no network.
pub const EXECUTION_MODE: &str = "experimental.tekton.dev/execution-mode";
