//! Known answers.

use super::*;
use crate::record::successions::Succeeded;

fn sources(listing: &str, lock: &str) -> Sources {
    let one = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    Sources { own: one("a.rs", listing), beneath: one("Cargo.lock", lock) }
}

fn current(listing: &str, lock: &str) -> Current {
    Current {
        chapter: "c".to_owned(),
        experiment: "e".to_owned(),
        renamed: Vec::new(),
        sources: sources(listing, lock),
        unused: BTreeSet::new(),
        programs: vec!["a".to_owned()],
        successions: [].into(),
    }
}

fn stale(file: &str) -> Option<String> {
    Some(format!("measured before these changed: {file}"))
}

#[test]
fn a_changed_listing_is_stale_and_a_changed_dependency_is_older() {
    let measured = sources("1", "1");
    assert_eq!(measured.freshness(&current("1", "1")), Freshness::Fresh);
    assert_eq!(measured.freshness(&current("1", "2")), Freshness::Older(vec!["Cargo.lock".to_owned()]));
    assert_eq!(measured.freshness(&current("2", "2")).complaint(), stale("a.rs"));
}

#[test]
fn a_listing_whose_successor_takes_as_long_is_older() {
    let own = |hash: &str| BTreeMap::from([("a.rs".to_owned(), hash.to_owned())]);
    let rewritten = |alike| Succession {
        day: "2026-11-26".to_owned(),
        machine: "one".to_owned(),
        before: own("1"),
        after: own("2"),
        plans: BTreeMap::new(),
        programs: vec![Succeeded { name: "c/a".to_owned(), alike, cells: Vec::new() }],
    };
    let now = |alike| Current { successions: [rewritten(alike)].into(), ..current("2", "2") };
    let older = [rewritten(true).words(), "Cargo.lock".to_owned()];
    assert_eq!(sources("1", "1").freshness(&now(true)), Freshness::Older(older.to_vec()));
    assert_eq!(sources("1", "1").freshness(&now(false)).complaint(), stale("a.rs"));
    assert_eq!(sources("0", "1").freshness(&now(true)).complaint(), stale("a.rs"));
}

#[test]
fn what_takes_as_long_is_older_beside_what_does_not() {
    let own = |hash: &str| BTreeMap::from([("a.rs".to_owned(), hash.to_owned())]);
    let program = |name: &str, alike| Succeeded { name: name.to_owned(), alike, cells: Vec::new() };
    let rewritten = Succession {
        day: "2026-11-26".to_owned(),
        machine: "one".to_owned(),
        before: own("1"),
        after: own("2"),
        plans: BTreeMap::new(),
        programs: vec![program("c/a", true), program("c/b", false)],
    };
    let programs = vec!["a".to_owned(), "b".to_owned()];
    let words = vec![rewritten.words()];
    let now = Current { programs, successions: [rewritten].into(), ..current("2", "1") };
    let freshness = sources("1", "1").freshness(&now);
    assert_eq!(freshness.word(), "stale", "of the whole, since b takes another time");
    assert_eq!(freshness.of(["a"]), Freshness::Older(words));
    for programs in [&["b"][..], &["a", "b"], &["unknown"]] {
        assert_eq!(freshness.of(programs.iter().copied()), freshness);
    }
    assert_eq!(sources("2", "1").freshness(&now).of(["b"]), Freshness::Fresh);
}

#[test]
fn a_manifest_says_which_further_crates_it_builds_on() {
    let manifest = "harness = { path = \"../harness\" }\nruntime = { path = \"../runtime\" }\nlibc = \"1\"\n";
    assert_eq!(further_crates(manifest).collect::<Vec<_>>(), ["runtime"]);
}

#[test]
fn what_a_chapter_does_not_need_is_none_of_its_business() {
    let manifest = |features: &str, profile: &str| {
        let text = format!(
            "[workspace.dependencies]\na = {{ version = \"1\", features = [\"{features}\"] }}\nz = \"1\"\n[profile.release]\nlto = \"{profile}\"\n"
        );
        toml::from_str::<toml::Table>(&text).unwrap()
    };
    let lock = |b: &str, z: &str| {
        format!(
            "version = 4\n[[package]]\nname = \"chapter\"\nversion = \"0.1.0\"\ndependencies = [\"a\"]\n\
             [[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\"b 2.0.0\"]\n\
             [[package]]\nname = \"b\"\nversion = \"1.0.0\"\nchecksum = \"other\"\n\
             [[package]]\nname = \"b\"\nversion = \"2.0.0\"\nchecksum = \"{b}\"\ndependencies = [\"a\"]\n\
             [[package]]\nname = \"z\"\nversion = \"{z}\"\n"
        )
    };
    let of = |features: &str, b: &str, z: &str| {
        Dependencies::of("chapter", &BTreeSet::new(), &manifest(features, "off"), &lock(b, z)).unwrap().0
    };
    assert_eq!(of("x", "1", "1"), of("x", "1", "2"), "z is another chapter's");
    assert_ne!(of("x", "1", "1"), of("x", "2", "1"), "b is needed by a");
    assert_ne!(of("x", "1", "1"), of("y", "1", "1"), "features of a");
    assert!(!of("x", "1", "1").contains("other"), "the other b is not needed");
    assert_ne!(profile(&manifest("x", "off")), profile(&manifest("x", "fat")));
    let of_others = |b| {
        let others = BTreeSet::from(["a".to_owned()]);
        Dependencies::of("chapter", &others, &manifest("x", "off"), &lock(b, "1")).unwrap().0
    };
    assert_eq!(of_others("1"), of_others("2"), "only what another program needs stands on b");
}

#[test]
fn an_optional_package_concerns_the_code_that_names_it() {
    let before = "[dependencies]\nanyhow = \"1\"\nserde = { version = \"1\" }\n\n[lints]\nworkspace = true\n";
    let now = "[dependencies]\nanyhow = \"1\"\nparking-lot = { version = \"0.12\", optional = true }\nserde = { version = \"1\" }\n\n\
               # Said of features.\n[features]\ndefault = [\"dep:parking-lot\"]\n\n[lints]\nworkspace = true\n";
    let of =
        |manifest: &str, code: &str| concerning(manifest, |package| names(code.lines()).contains(OsStr::new(package)));
    let none = BTreeSet::new();
    assert_eq!(of(before, "use anyhow::Result;"), (before.to_owned(), none.clone()), "nothing is optional");
    let others = BTreeSet::from(["parking-lot".to_owned()]);
    assert_eq!(of(now, "use anyhow::Result; // and no parking_lot"), (before.to_owned(), others));
    let (concerning, others) = of(now, "use parking_lot::Mutex;");
    assert!(concerning.contains("optional = true") && !concerning.contains("[features]"), "{concerning}");
    assert_eq!(others, none);
}

#[test]
fn what_programs_share_is_all_that_lies_beside_and_below_their_library() {
    let benches = tempfile::tempdir().unwrap();
    for file in ["lib.rs", "parts.rs", "parts/one.rs", "parts/notes.md", "parts/bin/two.rs", "bin/program.rs"] {
        let path = benches.path().join("chapter/src").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let mut shared = shared_files(benches.path(), "chapter");
    shared.sort();
    let expected = ["lib.rs", "parts.rs", "parts/bin/two.rs", "parts/one.rs"];
    assert_eq!(shared, expected.map(|file| format!("chapter/src/{file}")));
    assert!(shared_files(benches.path(), "none").is_empty());
}

#[test]
fn a_module_is_used_if_code_that_is_used_names_it() {
    let benches = tempfile::tempdir().unwrap();
    let files = [
        ("bin/a.rs", "use chapter::{one};"),
        ("bin/b.rs", "// not four, which is only mentioned"),
        ("bin/c-1.rs", "#[path = \"d-1.rs\"]\nmod d_1;\nmod b;"),
        ("bin/d-1.rs", "use chapter::five;"),
        ("bin/e.rs", "start(\"b\"); say(\"nobody\");"),
        ("lib.rs", "pub mod one;\nmod two;\npub mod four;\nmod six;\npub use six::Six;"),
        ("one.rs", "mod three;\nfn f() { crate::two::g() }"),
        ("two.rs", "/// See four."),
        ("one/three.rs", "impl Three for One {}"),
        ("four.rs", "use crate::one;"),
        ("five.rs", ""),
        ("six.rs", ""),
    ];
    for (file, code) in files {
        let path = benches.path().join("chapter/src").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, code).unwrap();
    }
    let of = |programs: &[&str]| {
        let listings = programs.iter().map(|name| format!("chapter/src/bin/{name}.rs"));
        let (used, unused) = modules(benches.path(), "chapter", listings).unwrap();
        assert!(used.keys().all(|file| !unused.contains(file)));
        let used = used.into_keys().map(|file| file["chapter/src/".len()..].to_owned());
        used.filter(|file| !programs.iter().any(|name| *file == format!("bin/{name}.rs"))).collect::<Vec<_>>()
    };
    assert_eq!(of(&["b"]), ["lib.rs", "six.rs"], "the library itself names six");
    assert_eq!(of(&["a"]), ["lib.rs", "one.rs", "one/three.rs", "six.rs", "two.rs"], "by a and by one");
    assert_eq!(
        of(&["c-1"]),
        ["bin/b.rs", "bin/d-1.rs", "five.rs", "lib.rs", "six.rs"],
        "by a program that it contains"
    );
    assert_eq!(of(&["e"]), ["bin/b.rs", "lib.rs", "six.rs"], "a program that it starts; no other has that name");
}

#[test]
fn a_folder_that_a_program_carries_with_it_is_its_own() {
    let benches = tempfile::tempdir().unwrap();
    let write = |file: &str, code: &str| {
        let path = benches.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, code).unwrap();
    };
    write("chapter/src/lib.rs", "");
    write("chapter/src/bin/a.rs", "include_str!(concat!(\"../../carried/\", $path)); say(\"../../nowhere/\")");
    write("carried/one/src/main.rs", "1");
    let used = || modules(benches.path(), "chapter", ["chapter/src/bin/a.rs".to_owned()].into_iter()).unwrap().0;
    let before = used();
    assert_eq!(before.keys().collect::<Vec<_>>(), ["carried", "chapter/src/bin/a.rs", "chapter/src/lib.rs"]);
    write("carried/one/src/main.rs", "2");
    assert_ne!(before["carried"], used()["carried"]);
}

#[test]
fn what_is_not_used_any_more_does_not_make_a_record_stale() {
    let mut measured = sources("1", "1");
    measured.own.insert("b.rs".to_owned(), "1".to_owned());
    let mut current = current("1", "1");
    assert_eq!(measured.freshness(&current).complaint(), stale("b.rs"), "it is gone");
    current.unused.insert("b.rs".to_owned());
    assert_eq!(measured.freshness(&current), Freshness::Fresh);
}

#[test]
fn a_listing_that_is_gone_is_stale() {
    let mut gone = current("1", "1");
    gone.sources.own.clear();
    assert_eq!(sources("1", "1").freshness(&gone).complaint(), stale("a.rs"));
}
