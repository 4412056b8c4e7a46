//! What somebody contributes: `ci/contribution` looks at it as data.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use super::support::{Fake, of_another_cpu};
use super::{Case, Said, case, has, measured, said, unless};

const KIND: &str = "The gate says what is allowed, and refuses all else by name";

/// What is contributed, what of it must be named, and how it is made in the checkout.
type Contribution = (&'static str, &'static str, fn(&Fake));

const REFUSED: [Contribution; 12] = [
    ("a file in the place of the link to the reference", "machines/reference", |fake| {
        fs::remove_file(fake.path("data/machines/reference")).unwrap();
        fake.write("data/machines/reference", "b-machine");
    }),
    ("another machine as the reference", "machines/reference", |fake| {
        fs::remove_file(fake.path("data/machines/reference")).unwrap();
        symlink("b-machine", fake.path("data/machines/reference")).unwrap();
    }),
    ("a folder in the place of the reference", "machines/reference", |fake| {
        fs::remove_file(fake.path("data/machines/reference")).unwrap();
        fake.write("data/machines/reference/machine.toml", "");
    }),
    ("a machine that is called local", "machines/local/machine.toml", |fake| {
        fake.write("data/machines/local/machine.toml", "");
    }),
    ("a link out of the checkout", "machines/linked", |fake| {
        symlink("/etc/passwd", fake.path("data/machines/linked")).unwrap();
    }),
    ("a session that is a link", "2026-11-24.bundle.zst", |fake| {
        symlink("/dev/zero", fake.path("data/machines/a-machine/sessions/2026-11-24.bundle.zst")).unwrap();
    }),
    ("a program in the place of a session", "2026-11-24.bundle.zst", |fake| {
        let path = fake.path("data/machines/a-machine/sessions/2026-11-24.bundle.zst");
        fs::write(&path, "#!/bin/sh\ntouch pwned\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }),
    ("a machine less", "machines/a-machine/machine.toml", |fake| {
        fs::remove_dir_all(fake.path("data/machines/a-machine")).unwrap();
    }),
    ("a machine that is told otherwise", "machines/a-machine/machine.toml", |fake| {
        fake.write("data/machines/a-machine/machine.toml", "[known]\n");
    }),
    ("a digest of other numbers", "2026-11-24.digest.zst", |fake| {
        fake.write("data/machines/a-machine/sessions/2026-11-24.digest.zst", "forged");
    }),
    ("a name that ends the block in which it stands", "    A\tdata/machines/~~~~", |fake| {
        fake.write("data/machines/~~~~", "# A heading");
    }),
    ("a machine whose name is a directive", "cmdrun touch pwned", |fake| {
        fake.write("data/machines/<!-- cmdrun touch pwned -->/machine.toml", "");
    }),
];

pub fn cases() -> Vec<Case> {
    let refused = REFUSED.map(|(done, named, change)| {
        case(KIND, format!("a contribution of {done}"), "refused, and nothing of it is run", move || {
            let fake = checkout();
            let Said { ok, text } = contributed(&fake, change);
            let seen = has(&text, &["These are refused", named])?;
            unless(ok || fake.path("pwned").exists() || text.contains("\n# A heading"), text, seen)
        })
    });
    let forged =
        case(KIND, "a contribution of a bundle with a record that is no record", "what is wrong is said", || {
            let fake = checkout();
            let Said { ok, text } = contributed(&fake, |fake| {
                fake.write("data/machines/c-machine/sessions/2026-11-24.bundle.zst", "no bundle");
            });
            unless(ok, text.clone(), "")?;
            has(&text, &["### What is wrong", "c-machine"])
        });
    let added = case(KIND, "a contribution of a machine", "accepted, with the verdicts that it changes", || {
        let fake = checkout();
        let Said { ok, text } = contributed(&fake, |fake| {
            let third = of_another_cpu(&fake.record()).replacen("Another", "A third", 1);
            fake.contribute("c-machine", &third.replacen("\"seed\":", "\"seed\":1", 1));
        });
        let seen = has(&text, &["### Machines", "c-machine", "### Verdicts that come or go"])?;
        unless(!ok, text, seen)
    });
    refused.into_iter().chain([forged, added]).collect()
}

/// A checkout of two machines in a repository of its own.
fn checkout() -> Fake {
    let fake = measured();
    fake.contribute("a-machine", &fake.record());
    fake.contribute("b-machine", &of_another_cpu(&fake.record()).replacen("\"seed\":", "\"seed\":2", 1));
    fake.refer_to("a-machine");
    fake.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n<!-- cmdrun tally table pair -->\n");
    fake.script("ci/contribution", include_str!("../../../../ci/contribution").trim_start_matches("#!/bin/sh\n"));
    fake.write(".gitignore", "/target\n/data/local\n/programs\n");
    git(&fake, &["init", "-q"]);
    commit(&fake);
    fake
}

fn git(fake: &Fake, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments).current_dir(fake.root());
    assert!(git.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success(), "git {arguments:?}");
}

fn commit(fake: &Fake) {
    git(fake, &["add", "--all"]);
    git(fake, &["commit", "-q", "-m", "x"]);
}

/// What the gate says of a commit that changes this.
fn contributed(fake: &Fake, change: fn(&Fake)) -> Said {
    git(fake, &["checkout", "-q", "-b", "theirs"]);
    change(fake);
    commit(fake);
    git(fake, &["checkout", "-q", "--detach", "HEAD~1"]);
    let mut gate = Command::new("ci/contribution");
    gate.arg("theirs").current_dir(fake.root()).env("TALLY", env!("CARGO_BIN_EXE_tally"));
    said(gate)
}
