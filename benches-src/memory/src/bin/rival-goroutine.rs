//! One operation: one goroutine held, created or switched to, as threads and tasks are beside it.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::Result;
use memory::foreign::{Folder, Foreign};
use memory::rival;
use resources::tool::{first_of, said};

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

/// Compiles both, and starts what comes of them.
fn goroutines() -> Result<Foreign> {
    let go = first_of(&["go", "/usr/local/go/bin/go"], "go is not installed; on Debian: apt-get install golang-go")?;
    let version = said(Command::new(&go).arg("version"))?;
    let folder = Folder::new()?;
    fs::write(folder.0.join("units.go"), UNITS)?;
    fs::write(folder.0.join("main.go"), MAIN)?;
    let mut build = Command::new(go);
    build.current_dir(&folder.0).args(["build", "-o", "units", "units.go", "main.go"]);
    build.env("GOTOOLCHAIN", "local").env("GOFLAGS", "");
    // Without a home it cannot know where to keep what it has compiled of its own library, which takes it some seconds.
    if env::var_os("HOME").is_none() && env::var_os("GOCACHE").is_none() {
        build.env("GOCACHE", env::var_os("TMPDIR").map_or(folder.0.clone(), PathBuf::from).join("go-cache"));
    }
    said(&mut build)?;
    Foreign::start(folder, format!("goroutines are those of {}", version.trim()))
}

fn main() -> ExitCode {
    rival::main(harness::name!(), goroutines)
}
