//! Resource definitions.

use tekton_api::crd;

#[test]
fn schemas_are_written() {
    for crd in crd::all() {
        for version in &crd.spec.versions {
            assert!(
                version
                    .schema
                    .as_ref()
                    .is_some_and(|schema| schema.open_api_v3_schema.is_some()),
                "{}",
                version.name
            );
        }
    }
    if let Some(path) = std::env::var_os("TEKTON_CRD_OUT") {
        std::fs::write(path, serde_json::to_string(&crd::all()).unwrap()).unwrap();
    }
}
