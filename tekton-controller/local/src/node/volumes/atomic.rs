//! Writes the files of a volume so that a reader sees either all old or all new ones.
//!
//! Each file is a link into `..data`, itself a link to a directory that is replaced as a whole, as the kubelet does.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Files of a volume by relative path, with their mode.
pub(in crate::node) type Payload = BTreeMap<String, (Vec<u8>, u32)>;

const DATA: &str = "..data";
const NEW_DATA: &str = "..data_new";

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Gives the volume at `root` exactly the files of `payload`; does nothing if it has them.
pub(in crate::node) fn write(root: &Path, payload: &Payload) -> io::Result<()> {
    fs::create_dir_all(root)?;
    let data = root.join(DATA);
    if data.exists() && unchanged(root, payload) {
        return Ok(());
    }
    let name = format!("..{}", GENERATION.fetch_add(1, Ordering::Relaxed));
    let dir = root.join(&name);
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755))?;
    for (path, (content, mode)) in payload {
        let file = dir.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, content)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(*mode))?;
    }
    let old = fs::read_link(&data).ok();
    let new_link = root.join(NEW_DATA);
    fs::remove_file(&new_link).ok();
    symlink(&name, &new_link)?;
    fs::rename(&new_link, &data)?;
    let tops: Vec<&str> = payload.keys().filter_map(|path| path.split('/').next()).collect();
    for top in &tops {
        let link = root.join(top);
        if link.symlink_metadata().is_err() {
            symlink(Path::new(DATA).join(top), link)?;
        }
    }
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with("..") && !tops.contains(&name.as_ref()) {
            fs::remove_file(root.join(name.as_ref()))?;
        }
    }
    match old {
        Some(old) => fs::remove_dir_all(root.join(old)),
        None => Ok(()),
    }
}

fn unchanged(root: &Path, payload: &Payload) -> bool {
    let visible = fs::read_dir(root).map(|entries| {
        entries
            .flatten()
            .filter(|e| !e.file_name().to_string_lossy().starts_with(".."))
            .count()
    });
    let mut tops: Vec<&str> = payload.keys().filter_map(|path| path.split('/').next()).collect();
    tops.dedup();
    visible.is_ok_and(|count| count == tops.len())
        && payload
            .iter()
            .all(|(path, (content, _))| fs::read(root.join(path)).is_ok_and(|found| &found == content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(files: &[(&str, &str)]) -> Payload {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (text.as_bytes().to_vec(), 0o644)))
            .collect()
    }

    #[test]
    fn replaces_all_files_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("v");
        write(&root, &payload(&[("a", "1"), ("sub/b", "2")])).unwrap();
        assert_eq!(fs::read_to_string(root.join("sub/b")).unwrap(), "2");
        let first = fs::read_link(root.join(DATA)).unwrap();
        write(&root, &payload(&[("a", "1"), ("sub/b", "2")])).unwrap();
        assert_eq!(
            fs::read_link(root.join(DATA)).unwrap(),
            first,
            "same content is not written again"
        );
        write(&root, &payload(&[("a", "3"), ("c", "")])).unwrap();
        assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "3");
        assert_eq!(fs::read_to_string(root.join("c")).unwrap(), "");
        assert!(!root.join("sub").exists());
        assert_eq!(fs::read_dir(&root).unwrap().count(), 4, "no old directory stays");
        write(&root, &Payload::new()).unwrap();
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
    }
}
