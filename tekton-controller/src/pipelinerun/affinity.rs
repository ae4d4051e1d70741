//! Claims for workspaces with templates, and the affinity assistants that keep their users on one node.
//!
//! Upstream counterpart: `pkg/reconciler/pipelinerun/affinity_assistant.go`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec};
use k8s_openapi::api::core::v1::{
    Affinity, Container, PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, PodAffinityTerm,
    PodAntiAffinity, PodSpec, PodTemplateSpec, ResourceRequirements, Volume, VolumeMount,
    WeightedPodAffinityTerm,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tekton_api::config::Coschedule;
use tekton_api::defaults::merge_affinity_assistant_template;
use tekton_api::v1::{AffinityAssistantTemplate, PodTemplate, WorkspaceBinding};
use tekton_api::{labels, names};
use tekton_pod::SecurityContextConfig;

use super::draft::{Draft, Halt};
use crate::plan::{Answers, Ask, ObjectRef, PassInput, Patch, ReconcileError, Waiting};
use crate::workspace::pvc;

const COMPONENT: &str = "affinity-assistant";
const REASON_CLAIM: &str = "CouldntCreateWorkspacePVC";
const REASON_ASSISTANT: &str = "ReasonCouldntCreateOrUpdateAffinityAssistantStatefulSet";
const REASON_PENDING: &str = "Pending";
const LONGEST_VOLUME_NAME: usize = 63;
const OS_LABEL: &str = "kubernetes.io/os";

/// Name of the assistant of a workspace, or of the whole run for an empty name.
pub(super) fn assistant_name(workspace: &str, run: &str) -> String {
    format!("{COMPONENT}-{}", short_hash(&format!("{workspace}{run}")))
}

fn short_hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().take(5).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The annotation value that binds a child to an assistant; empty if there is none.
pub(super) fn annotation(coschedule: Coschedule, claim_workspace: &str, run: &str) -> String {
    match coschedule {
        Coschedule::Workspaces if !claim_workspace.is_empty() => assistant_name(claim_workspace, run),
        Coschedule::PipelineRuns | Coschedule::IsolatePipelineRun => assistant_name("", run),
        Coschedule::Workspaces | Coschedule::Disabled => String::new(),
    }
}

/// Name of the claim that is made from the template of a binding.
pub(super) fn claim_name(draft: &Draft, binding: &WorkspaceBinding, coschedule: Coschedule) -> String {
    let own = own_claim_name(draft, binding);
    match coschedule {
        Coschedule::Workspaces | Coschedule::Disabled => own,
        Coschedule::PipelineRuns | Coschedule::IsolatePipelineRun => {
            format!("{}-{}-0", volume_name(&own), assistant_name("", draft.name()))
        }
    }
}

fn own_claim_name(draft: &Draft, binding: &WorkspaceBinding) -> String {
    let template = binding
        .volume_claim_template
        .as_ref()
        .and_then(|template| template.metadata.name.as_deref());
    names::volume_claim(template.unwrap_or_default(), &binding.name, draft.uid())
}

/// A name cut to what a volume may have, its hash in place of the rest.
fn volume_name(name: &str) -> String {
    if name.len() <= LONGEST_VOLUME_NAME {
        return name.to_owned();
    }
    let head: String = name.chars().take(LONGEST_VOLUME_NAME - 11).collect();
    format!("{head}-{}", short_hash(name))
}

/// Creates claims and assistants before the first child.
pub(super) fn create(draft: &mut Draft, input: &PassInput<'_>, answers: &Answers) -> Result<(), Halt> {
    let coschedule = input.config.features.coschedule;
    let bindings = draft.run.spec.workspaces.clone();
    let templates: Vec<WorkspaceBinding> = bindings
        .iter()
        .filter(|b| b.persistent_volume_claim.is_none() && b.volume_claim_template.is_some())
        .cloned()
        .collect();
    let claims: Vec<(String, String)> = bindings
        .iter()
        .filter_map(|b| {
            Some((
                b.name.clone(),
                b.persistent_volume_claim.as_ref()?.claim_name.clone(),
            ))
        })
        .collect();
    match coschedule {
        Coschedule::Workspaces => {
            for (workspace, claim) in claims {
                assistant(
                    draft,
                    &assistant_name(&workspace, draft.name()),
                    Vec::new(),
                    vec![claim],
                    input,
                    answers,
                )?;
            }
            for binding in templates {
                create_claims(draft, std::slice::from_ref(&binding), answers)?;
                let claim = own_claim_name(draft, &binding);
                let name = assistant_name(&binding.name, draft.name());
                assistant(draft, &name, Vec::new(), vec![claim], input, answers)?;
            }
            Ok(())
        }
        Coschedule::PipelineRuns | Coschedule::IsolatePipelineRun => {
            let templates = templates
                .iter()
                .filter_map(|binding| {
                    let mut claim = binding.volume_claim_template.clone()?;
                    claim.metadata.name = Some(volume_name(&own_claim_name(draft, binding)));
                    Some(claim)
                })
                .collect();
            let claims = claims.into_iter().map(|(_, claim)| claim).collect();
            assistant(
                draft,
                &assistant_name("", draft.name()),
                templates,
                claims,
                input,
                answers,
            )
        }
        Coschedule::Disabled => create_claims(draft, &templates, answers),
    }
}

fn create_claims(draft: &mut Draft, bindings: &[WorkspaceBinding], answers: &Answers) -> Result<(), Halt> {
    let owner = draft.owner();
    let namespace = draft.namespace().to_owned();
    match pvc::ensure(bindings, &owner, &namespace, answers)? {
        Ok(()) => Ok(()),
        Err(text) if text.starts_with("PVC creation error, retryable") => {
            let message = format!("Waiting for PVC creation to succeed: {text}");
            draft.mark(
                tekton_api::condition::ConditionStatus::Unknown,
                REASON_PENDING,
                message,
            );
            Err(Halt::transient(text))
        }
        Err(text) if text.starts_with("PVC creation error") => {
            let message = format!(
                "Failed to create PVC for PipelineRun {} correctly: {text}",
                draft.key()
            );
            Err(Halt::fail(REASON_CLAIM, message, text))
        }
        Err(text) => Err(Halt::permanent(text)),
    }
}

fn assistant(
    draft: &mut Draft,
    name: &str,
    templates: Vec<PersistentVolumeClaim>,
    claims: Vec<String>,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<(), Halt> {
    let namespace = draft.namespace().to_owned();
    let target = ObjectRef::new("apps/v1", "StatefulSet", &namespace, name);
    let error = match answers.ask(Ask::Get(target))? {
        Ok(found) if found.pointer("/status/readyReplicas").and_then(Value::as_i64) == Some(1) => {
            return leave_cordoned_node(draft, name, answers);
        }
        Ok(_) => return Ok(()),
        Err(failure) if failure.is_not_found() => {
            let set = stateful_set(draft, name, templates, claims, input);
            let mut object = serde_json::to_value(set).unwrap_or_default();
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("namespace".to_owned(), json!(namespace));
            }
            match answers.ask(Ask::Create {
                object,
                dry_run: false,
            })? {
                Ok(_) => return Ok(()),
                Err(failure) => format!("failed to create StatefulSet {name}: {}", failure.message),
            }
        }
        Err(failure) => format!("failed to retrieve StatefulSet {name}: {}", failure.message),
    };
    assistant_failed(draft, &error)
}

fn assistant_failed(draft: &Draft, error: &str) -> Result<(), Halt> {
    let text = format!("Affinity Assistant creation error: [{error}]");
    let message = format!(
        "Failed to create StatefulSet for PipelineRun {} correctly: {text}",
        draft.key()
    );
    Err(Halt::fail(REASON_ASSISTANT, message, text))
}

/// Deletes the pod of an assistant whose node takes no more pods, so that it comes up elsewhere.
fn leave_cordoned_node(draft: &Draft, name: &str, answers: &Answers) -> Result<(), Halt> {
    let list = Ask::List {
        api_version: "v1".to_owned(),
        kind: "Node".to_owned(),
        namespace: String::new(),
        labels: String::new(),
    };
    let nodes = match answers.ask(list)? {
        Ok(nodes) => nodes,
        Err(failure) => {
            return assistant_failed(
                draft,
                &format!("could not get the list of nodes, err: {}", failure.message),
            );
        }
    };
    let cordoned: Vec<&str> = nodes
        .as_array()
        .into_iter()
        .flatten()
        .filter(|node| node.pointer("/spec/unschedulable").and_then(Value::as_bool) == Some(true))
        .filter_map(|node| node.pointer("/metadata/name").and_then(Value::as_str))
        .collect();
    if cordoned.is_empty() {
        return Ok(());
    }
    let pod = ObjectRef::new("v1", "Pod", draft.namespace(), format!("{name}-0"));
    if let Ok(found) = answers.ask(Ask::Get(pod.clone()))?
        && found
            .pointer("/spec/nodeName")
            .and_then(Value::as_str)
            .is_some_and(|node| cordoned.contains(&node))
        && let Err(failure) = answers.ask(Ask::Delete(pod))?
    {
        let text = format!(
            "error deleting affinity assistant pod {name}-0 in ns {}: {}",
            draft.namespace(),
            failure.message
        );
        return assistant_failed(draft, &text);
    }
    Ok(())
}

fn stateful_set(
    draft: &Draft,
    name: &str,
    mut templates: Vec<PersistentVolumeClaim>,
    claims: Vec<String>,
    input: &PassInput<'_>,
) -> StatefulSet {
    let run = &draft.run;
    let own = run.spec.task_run_template.pod_template.clone().map(own_template);
    let configured = input.config.defaults.affinity_assistant_pod_template.as_ref();
    let template = merge_affinity_assistant_template(own, configured).unwrap_or_default();
    let flags = &input.config.features;
    let windows = template
        .node_selector
        .as_ref()
        .and_then(|selector| selector.get(OS_LABEL))
        .is_some_and(|os| os == "windows");
    let security = SecurityContextConfig {
        set: flags.set_security_context,
        read_only_root: flags.set_security_context_read_only_root_filesystem,
    };
    let security = security.context(windows).unwrap_or_default();
    let amounts: BTreeMap<String, Quantity> = [("cpu", "50m"), ("memory", "100Mi")]
        .map(|(name, amount)| (name.to_owned(), Quantity(amount.to_owned())))
        .into();
    for claim in &mut templates {
        claim.metadata.creation_timestamp = None;
    }
    let mounts = templates.iter().map(|claim| {
        let name = claim.metadata.name.clone().unwrap_or_default();
        VolumeMount {
            mount_path: name.clone(),
            name,
            ..VolumeMount::default()
        }
    });
    let volumes = claims.into_iter().enumerate().map(|(index, claim_name)| Volume {
        name: format!("workspace-{index}"),
        persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
            claim_name,
            ..PersistentVolumeClaimVolumeSource::default()
        }),
        ..Volume::default()
    });
    let account = template
        .service_account_name
        .clone()
        .filter(|name| !name.is_empty());
    let account = account.or_else(|| run.spec.task_run_template.service_account_name.clone());
    let container = Container {
        name: COMPONENT.to_owned(),
        image: Some(input.images.nop.clone()),
        args: Some(vec!["tekton_run_indefinitely".to_owned()]),
        resources: Some(ResourceRequirements {
            limits: Some(amounts.clone()),
            requests: Some(amounts),
            ..ResourceRequirements::default()
        }),
        volume_mounts: Some(mounts.collect()).filter(|mounts: &Vec<_>| !mounts.is_empty()),
        security_context: Some(security),
        ..Container::default()
    };
    let labels = assistant_labels(draft, name);
    StatefulSet {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(labels.clone()),
            owner_references: Some(vec![draft.owner()]),
            ..ObjectMeta::default()
        },
        spec: StatefulSetSpec {
            replicas: Some(1),
            selector: LabelSelector {
                match_labels: Some(labels.clone()),
                ..LabelSelector::default()
            },
            volume_claim_templates: Some(templates).filter(|templates| !templates.is_empty()),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    ..ObjectMeta::default()
                }),
                spec: Some(PodSpec {
                    containers: vec![container],
                    tolerations: template.tolerations,
                    node_selector: template.node_selector,
                    image_pull_secrets: template.image_pull_secrets,
                    security_context: template.security_context,
                    priority_class_name: template.priority_class_name,
                    service_account_name: account,
                    affinity: Some(repelling(draft, input.config.features.coschedule)),
                    volumes: Some(volumes.collect()).filter(|volumes: &Vec<_>| !volumes.is_empty()),
                    ..PodSpec::default()
                }),
            },
            ..StatefulSetSpec::default()
        },
        status: None,
    }
}

/// The parts of the run's pod template that count for assistants.
fn own_template(template: PodTemplate) -> AffinityAssistantTemplate {
    AffinityAssistantTemplate {
        node_selector: template.node_selector,
        tolerations: template.tolerations,
        image_pull_secrets: template.image_pull_secrets,
        security_context: template.security_context,
        priority_class_name: template.priority_class_name,
        service_account_name: None,
    }
}

fn assistant_labels(draft: &Draft, name: &str) -> BTreeMap<String, String> {
    let mut all = draft.run.metadata.labels.clone().unwrap_or_default();
    all.insert(labels::PIPELINE_RUN.to_owned(), draft.name().to_owned());
    all.insert(labels::APP_INSTANCE.to_owned(), name.to_owned());
    all.insert(labels::APP_COMPONENT.to_owned(), COMPONENT.to_owned());
    all
}

/// The affinity of the run's pod template, with the wish (or demand) for a node without other assistants.
fn repelling(draft: &Draft, coschedule: Coschedule) -> Affinity {
    let own = draft.run.spec.task_run_template.pod_template.as_ref();
    let mut affinity = own
        .and_then(|template| template.affinity.clone())
        .unwrap_or_default();
    let anti: &mut PodAntiAffinity = affinity.pod_anti_affinity.get_or_insert_default();
    let term = PodAffinityTerm {
        label_selector: Some(LabelSelector {
            match_labels: Some([(labels::APP_COMPONENT.to_owned(), COMPONENT.to_owned())].into()),
            ..LabelSelector::default()
        }),
        topology_key: "kubernetes.io/hostname".to_owned(),
        ..PodAffinityTerm::default()
    };
    if coschedule == Coschedule::IsolatePipelineRun {
        anti.required_during_scheduling_ignored_during_execution
            .get_or_insert_default()
            .push(term);
    } else {
        let weighted = WeightedPodAffinityTerm {
            weight: 100,
            pod_affinity_term: term,
        };
        anti.preferred_during_scheduling_ignored_during_execution
            .get_or_insert_default()
            .push(weighted);
    }
    affinity
}

/// Removes assistants, and claims that are not to outlive the run, once it has ended. Returns what went wrong.
pub(super) fn clean_up(
    draft: &Draft,
    coschedule: Coschedule,
    answers: &Answers,
) -> Result<Option<ReconcileError>, Waiting> {
    let mut errors = Vec::new();
    let annotations = draft.run.metadata.annotations.as_ref();
    let purge = annotations
        .and_then(|all| all.get(labels::AUTO_CLEANUP_PVC))
        .is_some_and(|value| value == "true");
    let bindings = &draft.run.spec.workspaces;
    match coschedule {
        Coschedule::Disabled => {}
        Coschedule::Workspaces => {
            for binding in bindings {
                if binding.persistent_volume_claim.is_some() || binding.volume_claim_template.is_some() {
                    delete_assistant(
                        draft,
                        &assistant_name(&binding.name, draft.name()),
                        answers,
                        &mut errors,
                    )?;
                }
                if binding.volume_claim_template.is_some() && purge {
                    purge_claim(draft, &own_claim_name(draft, binding), answers, &mut errors)?;
                }
            }
        }
        Coschedule::PipelineRuns | Coschedule::IsolatePipelineRun => {
            delete_assistant(draft, &assistant_name("", draft.name()), answers, &mut errors)?;
            for binding in bindings
                .iter()
                .filter(|binding| binding.volume_claim_template.is_some())
            {
                purge_claim(
                    draft,
                    &claim_name(draft, binding, coschedule),
                    answers,
                    &mut errors,
                )?;
            }
        }
    }
    Ok(match errors.len() {
        0 => None,
        1 => errors.pop().map(ReconcileError::Transient),
        _ => Some(ReconcileError::Transient(format!("[{}]", errors.join(", ")))),
    })
}

fn delete_assistant(
    draft: &Draft,
    name: &str,
    answers: &Answers,
    errors: &mut Vec<String>,
) -> Result<(), Waiting> {
    let target = ObjectRef::new("apps/v1", "StatefulSet", draft.namespace(), name);
    // Reading first spares a deletion in every pass over a run that has long ended.
    if answers.ask(Ask::Get(target.clone()))?.is_err() {
        return Ok(());
    }
    if let Err(failure) = answers.ask(Ask::Delete(target))?
        && !failure.is_not_found()
    {
        errors.push(format!(
            "failed to delete StatefulSet {name}: {}",
            failure.message
        ));
    }
    Ok(())
}

/// Deletes a claim at once, although a pod may still use it.
fn purge_claim(
    draft: &Draft,
    name: &str,
    answers: &Answers,
    errors: &mut Vec<String>,
) -> Result<(), Waiting> {
    let target = ObjectRef::new("v1", "PersistentVolumeClaim", draft.namespace(), name);
    let finalizers: Vec<Value> = match answers.ask(Ask::Get(target.clone()))? {
        Ok(claim) => {
            let all = claim.pointer("/metadata/finalizers").and_then(Value::as_array);
            all.into_iter()
                .flatten()
                .filter(|name| name.as_str() != Some("kubernetes.io/pvc-protection"))
                .cloned()
                .collect()
        }
        Err(failure) if failure.is_not_found() => return Ok(()),
        Err(failure) => {
            errors.push(format!("failed to get the PVC {name}: {}", failure.message));
            return Ok(());
        }
    };
    if let Err(failure) = answers.ask(Ask::Delete(target.clone()))? {
        errors.push(format!("failed to delete the PVC {name}: {}", failure.message));
        return Ok(());
    }
    let patch = json!([{"op": "replace", "path": "/metadata/finalizers", "value": finalizers}]);
    let ask = Ask::Patch {
        target,
        patch: Patch::Json(patch),
        subresource: None,
    };
    match answers.ask(ask)? {
        Err(failure) if !failure.is_not_found() => {
            errors.push(format!("failed to patch the PVC {name}: {}", failure.message));
        }
        _ => {}
    }
    Ok(())
}
