//! Substitution of params in a pod template.
//!
//! Upstream counterpart: `ApplyPodTemplateReplacements` in `pkg/reconciler/taskrun/resources/apply.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, EnvVarSource, NodeSelectorTerm, PodAffinityTerm, PodDNSConfig, PodSecurityContext,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::volumes;
use crate::substitute::Replacements;
use crate::v1::PodTemplate;

/// Substitutes everywhere in a pod template; keys of node selectors and label selectors included.
pub fn pod_template(template: &mut PodTemplate, known: &Replacements) {
    if let Some(selector) = &mut template.node_selector {
        labels(selector, known);
    }
    for toleration in template.tolerations.iter_mut().flatten() {
        known.apply_option(&mut toleration.key);
        known.apply_option(&mut toleration.value);
        known.apply_option(&mut toleration.operator);
        known.apply_option(&mut toleration.effect);
    }
    if let Some(rules) = &mut template.affinity {
        affinity(rules, known);
    }
    if let Some(context) = &mut template.security_context {
        security_context(context, known);
    }
    known.apply_option(&mut template.runtime_class_name);
    known.apply_option(&mut template.scheduler_name);
    known.apply_option(&mut template.priority_class_name);
    for secret in template.image_pull_secrets.iter_mut().flatten() {
        known.apply_string(&mut secret.name);
    }
    for alias in template.host_aliases.iter_mut().flatten() {
        known.apply_string(&mut alias.ip);
        each(&mut alias.hostnames, known);
    }
    for constraint in template.topology_spread_constraints.iter_mut().flatten() {
        known.apply_string(&mut constraint.topology_key);
        label_selector(&mut constraint.label_selector, known);
    }
    known.apply_option(&mut template.dns_policy);
    if let Some(config) = &mut template.dns_config {
        dns_config(config, known);
    }
    for volume in &mut template.volumes {
        volumes::volume(volume, known);
    }
    for variable in &mut template.env {
        known.apply_string(&mut variable.name);
        known.apply_option(&mut variable.value);
        if let Some(source) = &mut variable.value_from {
            env_source(source, known);
        }
    }
}

fn each(list: &mut Option<Vec<String>>, known: &Replacements) {
    for text in list.iter_mut().flatten() {
        known.apply_string(text);
    }
}

fn labels(map: &mut BTreeMap<String, String>, known: &Replacements) {
    *map = map
        .iter()
        .map(|(key, value)| (known.string(key), known.string(value)))
        .collect();
}

fn affinity(rules: &mut Affinity, known: &Replacements) {
    if let Some(node) = &mut rules.node_affinity {
        if let Some(required) = &mut node.required_during_scheduling_ignored_during_execution {
            for term in &mut required.node_selector_terms {
                node_selector_term(term, known);
            }
        }
        for preferred in node
            .preferred_during_scheduling_ignored_during_execution
            .iter_mut()
            .flatten()
        {
            node_selector_term(&mut preferred.preference, known);
        }
    }
    if let Some(pod) = &mut rules.pod_affinity {
        for term in pod
            .required_during_scheduling_ignored_during_execution
            .iter_mut()
            .flatten()
        {
            pod_affinity_term(term, known);
        }
        for preferred in pod
            .preferred_during_scheduling_ignored_during_execution
            .iter_mut()
            .flatten()
        {
            pod_affinity_term(&mut preferred.pod_affinity_term, known);
        }
    }
    if let Some(pod) = &mut rules.pod_anti_affinity {
        for term in pod
            .required_during_scheduling_ignored_during_execution
            .iter_mut()
            .flatten()
        {
            pod_affinity_term(term, known);
        }
        for preferred in pod
            .preferred_during_scheduling_ignored_during_execution
            .iter_mut()
            .flatten()
        {
            pod_affinity_term(&mut preferred.pod_affinity_term, known);
        }
    }
}

fn node_selector_term(term: &mut NodeSelectorTerm, known: &Replacements) {
    let expressions = term
        .match_expressions
        .iter_mut()
        .flatten()
        .chain(term.match_fields.iter_mut().flatten());
    for expression in expressions {
        known.apply_string(&mut expression.key);
        each(&mut expression.values, known);
    }
}

fn pod_affinity_term(term: &mut PodAffinityTerm, known: &Replacements) {
    label_selector(&mut term.label_selector, known);
    known.apply_string(&mut term.topology_key);
    label_selector(&mut term.namespace_selector, known);
    each(&mut term.namespaces, known);
}

fn label_selector(selector: &mut Option<LabelSelector>, known: &Replacements) {
    let Some(selector) = selector else { return };
    if let Some(map) = &mut selector.match_labels {
        labels(map, known);
    }
    for expression in selector.match_expressions.iter_mut().flatten() {
        known.apply_string(&mut expression.key);
        each(&mut expression.values, known);
    }
}

fn security_context(context: &mut PodSecurityContext, known: &Replacements) {
    if let Some(options) = &mut context.se_linux_options {
        for option in [
            &mut options.user,
            &mut options.role,
            &mut options.type_,
            &mut options.level,
        ] {
            known.apply_option(option);
        }
    }
    if let Some(options) = &mut context.windows_options {
        known.apply_option(&mut options.gmsa_credential_spec_name);
        known.apply_option(&mut options.gmsa_credential_spec);
        known.apply_option(&mut options.run_as_user_name);
    }
    known.apply_option(&mut context.supplemental_groups_policy);
    for sysctl in context.sysctls.iter_mut().flatten() {
        known.apply_string(&mut sysctl.name);
        known.apply_string(&mut sysctl.value);
    }
    known.apply_option(&mut context.fs_group_change_policy);
    if let Some(profile) = &mut context.seccomp_profile {
        known.apply_string(&mut profile.type_);
        known.apply_option(&mut profile.localhost_profile);
    }
    if let Some(profile) = &mut context.app_armor_profile {
        known.apply_string(&mut profile.type_);
        known.apply_option(&mut profile.localhost_profile);
    }
    known.apply_option(&mut context.se_linux_change_policy);
}

fn dns_config(config: &mut PodDNSConfig, known: &Replacements) {
    each(&mut config.nameservers, known);
    each(&mut config.searches, known);
    for option in config.options.iter_mut().flatten() {
        known.apply_option(&mut option.name);
        known.apply_option(&mut option.value);
    }
}

fn env_source(source: &mut EnvVarSource, known: &Replacements) {
    if let Some(config_map) = &mut source.config_map_key_ref {
        known.apply_string(&mut config_map.name);
        known.apply_string(&mut config_map.key);
    }
    if let Some(secret) = &mut source.secret_key_ref {
        known.apply_string(&mut secret.name);
        known.apply_string(&mut secret.key);
    }
    if let Some(field) = &mut source.field_ref {
        known.apply_string(&mut field.field_path);
    }
    if let Some(field) = &mut source.resource_field_ref {
        known.apply_string(&mut field.resource);
        known.apply_option(&mut field.container_name);
    }
}
