//! One operation: one goroutine held, created or switched to, as threads and tasks are beside it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::Result;
use foreign::{Foreign, first_of, said};

#[path = "../foreign.rs"]
mod foreign;
#[path = "../rival.rs"]
mod rival;

/// What is asked of goroutines.
const UNITS: &str = r#"package main

import "sync"

func hold(more int) {
	var started sync.WaitGroup
	started.Add(more)
	never := make(chan struct{})
	for i := 0; i < more; i++ {
		go func() {
			started.Done()
			<-never
		}()
	}
	started.Wait()
}

func create(count int) {
	ended := make(chan struct{}, 1)
	for i := 0; i < count; i++ {
		go func() { ended <- struct{}{} }()
		<-ended
	}
}

func hop(count int) {
	there, back := make(chan int, 1), make(chan int, 1)
	go func() {
		for token := range there {
			back <- token
		}
	}()
	for i := 0; i < count/2; i++ {
		there <- 1
		<-back
	}
	close(there)
}
"#;

/// It does what a line asks for, and answers with how long that took in nanoseconds.
const MAIN: &str = r#"package main

import (
	"fmt"
	"time"
)

func main() {
	work := map[string]func(int){"hold": hold, "create": create, "hop": hop}
	for {
		var name string
		var count int
		if _, err := fmt.Scan(&name, &count); err != nil {
			return
		}
		start := time.Now()
		work[name](count)
		fmt.Println(time.Since(start).Nanoseconds())
	}
}
"#;

/// Compiles both in this folder, and says with what.
fn goroutines(folder: &Path) -> Result<Foreign> {
    let go = first_of(&["go", "/usr/local/go/bin/go"], "go is not installed; on Debian: apt-get install golang-go")?;
    let version = said(Command::new(go).arg("version"))?;
    fs::write(folder.join("units.go"), UNITS)?;
    fs::write(folder.join("main.go"), MAIN)?;
    let mut build = Command::new(go);
    build.current_dir(folder).args(["build", "-o", "units", "units.go", "main.go"]);
    build.env("GOTOOLCHAIN", "local").env("GOFLAGS", "");
    // Without a home it cannot know where to keep what it has compiled of its own library, which takes it some seconds.
    if env::var_os("HOME").is_none() && env::var_os("GOCACHE").is_none() {
        build.env("GOCACHE", env::var_os("TMPDIR").map_or(folder.to_owned(), PathBuf::from).join("go-cache"));
    }
    said(&mut build)?;
    Foreign::start(&mut Command::new(folder.join("units")), format!("goroutines are those of {}", version.trim()))
}

fn main() -> ExitCode {
    rival::main(harness::name!(), || foreign::in_folder(goroutines))
}
