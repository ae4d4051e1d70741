//! Writing the status of a pod, and removing it once it is stopped.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};

use super::super::state_dir::remove_tree;
use super::super::status::{Facts, Record, status};
use super::PodLife;

impl PodLife {
    /// Writes the status if it is another than before.
    pub(super) async fn publish(&mut self) {
        let (init, main): (Vec<Record>, Vec<Record>) = {
            let records: Vec<Record> = self.slots.iter().map(|slot| slot.record.clone()).collect();
            let (init, main) = records.split_at(self.init_count.min(records.len()));
            (init.to_vec(), main.to_vec())
        };
        let facts = Facts {
            pod: &self.pod,
            init: &init,
            main: &main,
            node: &self.context.settings.facts,
            started: self.started,
            now: Timestamp::now(),
            verdict: self.verdict.as_ref(),
            before: self.written.as_ref(),
        };
        let status = status(&facts);
        if self.written.as_ref() == Some(&status) {
            return;
        }
        let pods: Api<Pod> = Api::namespaced(self.context.client.clone(), &self.namespace);
        // The identifier makes the server refuse it for a new pod of the same name.
        let patch = serde_json::json!({ "metadata": { "uid": self.uid }, "status": status });
        match pods
            .patch_status(&self.name, &PatchParams::default(), &Patch::Merge(patch))
            .await
        {
            Ok(_) => {
                let over = matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"));
                self.written = Some(status);
                if over && !self.over {
                    self.over = true;
                    self.clear_away();
                }
            }
            Err(kube::Error::Api(error)) if error.code == 404 || error.code == 409 => {}
            Err(error) => {
                tracing::warn!(pod = %self.name, %error, "the status of a pod could not be written");
            }
        }
    }

    /// Removes everything but the logs of a pod whose containers will never run again.
    pub(super) fn clear_away(&self) {
        let dir = self.context.settings.pod_dir(&self.uid);
        tokio::task::spawn_blocking(move || remove_tree(&dir));
    }

    /// Removes a pod that was marked as deleted once nothing runs any more.
    pub(super) async fn deleted_when_stopped(&self) -> bool {
        if self.pod.metadata.deletion_timestamp.is_none() || self.slots.iter().any(|slot| slot.run.is_some())
        {
            return false;
        }
        let pods: Api<Pod> = Api::namespaced(self.context.client.clone(), &self.namespace);
        let params = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(Preconditions {
                uid: Some(self.uid.clone()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match pods.delete(&self.name, &params).await {
            Err(kube::Error::Api(error)) if error.code != 404 && error.code != 409 => {
                tracing::warn!(pod = %self.name, %error, "a stopped pod could not be deleted");
            }
            Err(kube::Error::Api(_)) | Ok(_) => {}
            Err(error) => tracing::warn!(pod = %self.name, %error, "a stopped pod could not be deleted"),
        }
        // A finalizer may keep the object; its life here is over all the same.
        true
    }
}
