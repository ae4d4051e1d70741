//! Credentials, from secrets to the home directory.

use std::os::unix::fs::PermissionsExt as _;

use crate::place::Place;

fn place() -> Place {
    let place = Place::new()
        .with("tekton/creds-secrets/login/username", "ada\\b")
        .with("tekton/creds-secrets/login/password", "p@ss/w")
        .with("tekton/creds-secrets/key/ssh-privatekey", "KEY\n")
        .with("tekton/creds-secrets/key/known_hosts", "g.test ssh-rsa A")
        .with(
            "tekton/creds-secrets/docker/.dockerconfigjson",
            "{\"auths\":{\"reg.b\":{\"auth\":\"<b>\"}}}",
        );
    std::fs::create_dir_all(place.path("tekton/creds")).unwrap();
    std::fs::create_dir_all(place.path("home")).unwrap();
    let home = place.at("home");
    place.variable("HOME", &home)
}

#[test]
fn all_kinds_arrive_in_the_home_directory() {
    let place = place();
    let flags = [
        "-basic-git=login=https://g.test/team/app",
        "-basic-git=login=https://g.test",
        "-ssh-git=key=g.test:2222/team/app",
        "-basic-docker=login=reg.a",
        "-docker-config=docker",
    ];
    let left = place.shell(&flags, "true");
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert_eq!(
        place.read("home/.git-credentials").unwrap(),
        "https://ada%5Cb:p%40ss%2Fw@g.test\nhttps://ada%5Cb:p%40ss%2Fw@g.test/team/app\n"
    );
    assert_eq!(
        place.read("home/.gitconfig").unwrap(),
        "[credential]\n\thelper = store\n[credential \"https://g.test/team/app\"]\n\tusername = ada\\\\b\n\t\
         useHttpPath = true\n[credential \"https://g.test\"]\n\tusername = ada\\\\b\n\
         [url \"git@g.test--team--app:team/app.git\"]\n\tinsteadOf = git@g.test:team/app.git\n\
         [url \"ssh://g.test--team--app/team/app.git\"]\n\tinsteadOf = ssh://g.test:2222/team/app.git\n"
    );
    assert_eq!(
        place.read("home/.docker/config.json").unwrap(),
        "{\"auths\":{\"reg.a\":{\"username\":\"ada\\\\b\",\"password\":\"p@ss/w\",\"auth\":\"YWRhXGI6cEBzcy93\",\
         \"email\":\"not@val.id\"},\"reg.b\":{\"auth\":\"\\u003cb\\u003e\"}}}"
    );
    assert_eq!(place.read("home/.ssh/id_key").unwrap(), "KEY\n");
    assert_eq!(place.read("home/.ssh/known_hosts").unwrap(), "g.test ssh-rsa A");
    let mode = |path: &str| std::fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (
            mode("home/.ssh"),
            mode("home/.ssh/id_key"),
            mode("home/.gitconfig")
        ),
        (0o700, 0o600, 0o600)
    );
}

#[test]
fn secrets_are_not_logged() {
    let place = place().with(
        "tekton/creds-secrets/broken/.dockerconfigjson",
        "{\"auths\":{\"r\":\"TOPSECRET\"}}",
    );
    let left = place.shell(
        &["-docker-config=broken", "-basic-git=login=https://g.test"],
        "true",
    );
    assert_eq!(left.code, Some(0));
    assert!(
        left.stderr.contains("Error initializing credentials"),
        "{}",
        left.stderr
    );
    assert!(
        !left.stderr.contains("TOPSECRET") && !left.stderr.contains("p@ss"),
        "{}",
        left.stderr
    );
}

#[test]
fn mistakes_in_flags_end_it() {
    for flag in [
        "-basic-git=none=https://g.test",
        "-basic-git=login",
        "-ssh-git=login=g.test",
        "-what",
    ] {
        let left = place().shell(&[flag], "echo never");
        assert_eq!((left.code, left.stdout.as_str()), (Some(2), ""), "{flag}");
    }
}
