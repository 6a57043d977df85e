//! `anchorhold report`: the record of a run as one page.

mod page;
mod read;

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::Path;

use crate::args::ReportArgs;
use crate::exit::Exit;
use read::Run;

/// Reads a record and writes the page.
///
/// # Errors
/// Only when standard output cannot be written.
pub(crate) fn run(args: &ReportArgs) -> io::Result<Exit> {
    let name = args.record.display();
    let run = match open(&args.record) {
        Ok(run) if run.lines.is_empty() => {
            say!("error: {name}: holds no line of a record; a record is what a job's pod logs, or run --record keeps");
            return Ok(Exit::Usage);
        }
        Ok(run) => run,
        Err(error) => {
            say!("error: failed to read {name}: {error}");
            return Ok(Exit::Usage);
        }
    };
    let page = page::render(&run);
    let Some(out) = &args.out else {
        io::stdout().lock().write_all(page.as_bytes())?;
        return Ok(Exit::Completed);
    };
    if let Err(error) = fs::write(out, page) {
        say!("error: failed to write {}: {error}", out.display());
        return Ok(Exit::Usage);
    }
    say!("{}", out.display());
    Ok(Exit::Completed)
}

fn open(record: &Path) -> io::Result<Run> {
    if record == Path::new("-") {
        Run::read(io::stdin().lock())
    } else {
        Run::read(BufReader::new(File::open(record)?))
    }
}
