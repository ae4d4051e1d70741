//! Reasons of TaskRuns.
//!
//! Upstream counterpart: `TaskRunReason` in `pkg/apis/pipeline/v1/taskrun_types.go`.

use crate::wire::open_enum;

open_enum! {
    /// Why a TaskRun is in its state.
    pub enum TaskRunReason {
        /// It has just started.
        Started = "Started",
        /// It is running.
        Running = "Running",
        /// All steps succeeded.
        Successful = "Succeeded",
        /// A step failed, or the pod could not run.
        Failed = "Failed",
        /// It failed and will be tried again.
        ToBeRetried = "ToBeRetried",
        /// It was cancelled.
        Cancelled = "TaskRunCancelled",
        /// It ran out of time.
        TimedOut = "TaskRunTimeout",
        /// Its Task is being fetched.
        ResolvingTaskRef = "ResolvingTaskRef",
        /// A StepAction is being fetched.
        ResolvingStepActionRef = "ResolvingStepActionRef",
        /// An image could not be pulled.
        ImagePullFailed = "TaskRunImagePullFailed",
        /// The container runtime refused a configuration.
        CreateContainerConfigError = "CreateContainerConfigError",
        /// The pod could not be created.
        PodCreationFailed = "PodCreationFailed",
        /// A result is larger than allowed.
        ResultLargerThanAllowedLimit = "TaskRunResultLargerThanAllowedLimit",
        /// The sidecars could not be stopped.
        StopSidecarFailed = "TaskRunStopSidecarFailed",
        /// A value is not among those allowed.
        InvalidParamValue = "InvalidParamValue",
        /// The Task could not be found or fetched.
        FailedResolution = "TaskRunResolutionFailed",
        /// The run does not fit its Task.
        FailedValidation = "TaskRunValidationFailed",
        /// The Task is not valid.
        TaskFailedValidation = "TaskValidationFailed",
        /// The signature of the Task is not accepted.
        ResourceVerificationFailed = "ResourceVerificationFailed",
        /// The pod was evicted.
        PodEvicted = "PodEvicted",
        /// A step used up its memory.
        StepOom = "StepOOM",
        /// A step failed.
        StepFailed = "StepFailed",
        /// A sidecar used up its memory.
        SidecarOom = "SidecarOOM",
        /// A sidecar failed.
        SidecarFailed = "SidecarFailed",
        /// An init container used up its memory.
        InitContainerOom = "InitContainerOOM",
        /// An init container failed.
        InitContainerFailed = "InitContainerFailed",
        /// It failed, and the Pipeline goes on all the same.
        FailureIgnored = "FailureIgnored",
        /// It waits for the permission to start.
        Pending = "TaskRunPending",
        /// The pod waits for something.
        PodPending = "Pending",
        /// The pod exceeds a quota of the namespace.
        ExceededResourceQuota = "ExceededResourceQuota",
        /// No node has room for the pod.
        ExceededNodeResources = "ExceededNodeResources",
        /// An image could not be pulled yet.
        PullImageFailed = "PullImageFailed",
        /// The pod was refused by a security policy.
        PodAdmissionFailed = "PodAdmissionFailed",
        /// The claim for a workspace could not be created.
        CouldntCreateWorkspacePvc = "CouldntCreateWorkspacePVC",
    }
}
