//! What is read of what was kept, and what is made anew.

use std::thread;

use super::*;
use crate::record::digest::tests::{changed, session};

/// What is done to a file.
type Damage = fn(&Path);

/// The first record's processes took so many milliseconds.
fn took(digest: &Digest) -> Option<u64> {
    digest.record(0).unwrap().runs[0].took_ms
}

/// A digest of that bundle that says something else of it.
fn forged() -> Vec<u8> {
    changed(|nth, text| if nth == 1 { text.replacen("\"took_ms\":0,", "\"took_ms\":1,", 1) } else { text })
}

#[test]
fn a_digest_is_kept_by_its_bundles_sum_and_read_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("target/digests");
    let bundle = &session().bundle;
    assert_eq!(took(&Digest::of(bundle, &folder).unwrap()), Some(0));
    let path = folder.join(sha256(bundle));
    assert!(read(&path).is_ok() && fs::read_dir(&folder).unwrap().count() == 1);
    // That it is read shows where it says something else.
    keep(&path, &forged()).unwrap();
    let own = Digest::of(bundle, &folder).unwrap();
    assert_eq!(took(&own), Some(1));
    assert!(own.check_against(&Digest::anew(bundle).unwrap()).is_err());
}

#[test]
fn what_is_broken_or_made_by_other_code_is_made_anew_without_a_word() {
    let damages: [(&str, Damage); 8] = [
        ("cut off", |file| fs::write(file, &fs::read(file).unwrap()[..200]).unwrap()),
        ("without a sum", |file| fs::write(file, forged()).unwrap()),
        ("of another sum", |file| {
            let kept = fs::read(file).unwrap();
            fs::write(file, [&kept[..65], &forged()[..]].concat()).unwrap();
        }),
        ("empty", |file| fs::write(file, "").unwrap()),
        ("a letter", |file| fs::write(file, "a letter to\nsomebody").unwrap()),
        ("of other code", |file| {
            let other = |text: String| text.replacen(made_by(), &sha256(b"other code"), 1);
            keep(file, &changed(|nth, text| if nth == 0 { other(text) } else { text })).unwrap();
        }),
        ("of another bundle", |file| {
            let other = |text: String| text.replacen("\"bundle\":\"", "\"bundle\":\"0", 1);
            keep(file, &changed(|nth, text| if nth == 0 { other(text) } else { text })).unwrap();
        }),
        ("a link to what has no end", |file| {
            fs::remove_file(file).unwrap();
            std::os::unix::fs::symlink("/dev/zero", file).unwrap();
        }),
    ];
    let bundle = &session().bundle;
    for (what, damage) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(sha256(bundle));
        Digest::of(bundle, folder.path()).unwrap();
        let whole = fs::read(&path).unwrap();
        damage(&path);
        assert_eq!(took(&Digest::of(bundle, folder.path()).unwrap()), Some(0), "{what}");
        assert_eq!(fs::read(&path).unwrap(), whole, "{what}: it was not made anew");
    }
}

#[test]
fn where_nothing_can_be_kept_it_is_made_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = &session().bundle;
    fs::create_dir(folder.path().join(sha256(bundle))).unwrap();
    for place in [folder.path(), Path::new("/dev/null/digests")] {
        assert_eq!(took(&Digest::of(bundle, place).unwrap()), Some(0));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left of the try");
}

#[test]
fn two_processes_at_once_keep_one_whole_digest() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = &session().bundle;
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(took(&Digest::of(bundle, folder.path()).unwrap()), Some(0)));
        }
    });
    assert!(read(&folder.path().join(sha256(bundle))).is_ok());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
