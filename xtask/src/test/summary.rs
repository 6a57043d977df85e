//! What ran, what came of it, and the closing lines.

use std::time::Instant;

use anyhow::Result;

use super::command::text_of;

/// Results in the order they came.
#[derive(Default)]
pub(crate) struct Summary {
    steps: Vec<(String, Option<String>)>,
    tests: Vec<(String, Vec<TestLine>)>,
    left_out: Vec<String>,
}

/// One test of libtest's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestLine {
    name: String,
    passed: bool,
}

impl Summary {
    /// Runs a step; its failure is kept and does not end the run.
    pub(crate) fn step(&mut self, name: &str, run: impl FnOnce() -> Result<String>) -> bool {
        self.record(name, run).1
    }

    /// Runs a step that prints libtest's output, and counts its tests.
    pub(crate) fn tests(&mut self, name: &str, run: impl FnOnce() -> Result<String>) -> bool {
        let (result, passed) = self.record(name, run);
        self.tests.push((name.into(), text_of(&result).map(test_lines).unwrap_or_default()));
        passed
    }

    /// Whether any test ran in the groups whose name begins so.
    pub(crate) fn ran_a_test(&self, groups: &str) -> bool {
        self.tests.iter().any(|(group, lines)| group.starts_with(groups) && !lines.is_empty())
    }

    /// Says that something was not run, and how it was switched off.
    pub(crate) fn left_out(&mut self, what: &str) {
        self.left_out.push(what.into());
    }

    fn record(&mut self, name: &str, run: impl FnOnce() -> Result<String>) -> (Result<String>, bool) {
        eprintln!("── {name}");
        let started = Instant::now();
        let result = run();
        let seconds = started.elapsed().as_secs();
        let failure = result.as_ref().err().map(|error| format!("{error:#}"));
        match &failure {
            None => eprintln!("── {name}: passed in {seconds} s"),
            Some(why) => eprintln!("── {name}: FAILED in {seconds} s: {why}"),
        }
        let passed = failure.is_none();
        self.steps.push((name.into(), failure));
        (result, passed)
    }

    /// Whether anything failed.
    pub(crate) fn failed(&self) -> bool {
        self.steps.iter().any(|(_, failure)| failure.is_some()) || self.counted().1 > 0
    }

    fn counted(&self) -> (usize, usize) {
        let all = || self.tests.iter().flat_map(|(_, lines)| lines);
        (all().filter(|line| line.passed).count(), all().filter(|line| !line.passed).count())
    }

    /// Prints every step, the cluster tests by name, and the closing line.
    pub(crate) fn print(&self) {
        println!("\n══ steps");
        for (name, failure) in &self.steps {
            match failure {
                None => println!("  passed  {name}"),
                Some(why) => println!("  FAILED  {name}: {}", why.lines().next().unwrap_or_default()),
            }
        }
        for what in &self.left_out {
            println!("  left out  {what}");
        }
        for (group, lines) in self.tests.iter().filter(|(group, _)| group.starts_with("cluster")) {
            println!("══ {group}");
            for TestLine { name, passed } in lines {
                println!("  {}  {name}", if *passed { "passed" } else { "FAILED" });
            }
        }
        for (_, line) in self.tests.iter().flat_map(|(group, lines)| lines.iter().map(move |line| (group, line))) {
            if !line.passed {
                println!("  FAILED  {}", line.name);
            }
        }
        let steps_failed = self.steps.iter().filter(|(_, failure)| failure.is_some()).count();
        let (passed, failed) = self.counted();
        println!("{} passed, {} failed", passed + self.steps.len() - steps_failed, failed.max(steps_failed));
    }
}

/// The lines `test NAME ... ok` and `test NAME ... FAILED` of libtest's output.
pub(crate) fn test_lines(text: &str) -> Vec<TestLine> {
    text.lines()
        .filter_map(|line| {
            let (name, verdict) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
            let name = name.trim_end_matches(" - should panic").to_owned();
            match verdict.split(' ').next()? {
                "ok" => Some(TestLine { name, passed: true }),
                "FAILED" => Some(TestLine { name, passed: false }),
                _ => None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_from_libtest_output_and_nothing_else_is() {
        let text = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored, why\ntest result: ok. 1 passed; 0 failed\n";
        assert_eq!(
            test_lines(text),
            [TestLine { name: "a::b".into(), passed: true }, TestLine { name: "c".into(), passed: false }]
        );
    }
}
