//! Scripts in real worker processes of the real program, called through a small set of tools.

mod support;

use anchorhold_plan::Outcome;
use support::{outcome_and_text, run};

#[tokio::test]
async fn a_return_value_is_the_result() {
    assert_eq!(run("return 1 + 1").await, (Outcome::Completed, "2".to_owned()));
    assert_eq!(run("return 'a' + '\\n' + 'b'").await, (Outcome::Completed, "a\nb".to_owned()));
    assert_eq!(run("return {a: [1, null, true], b: 'x'}").await.1, r#"{"a":[1,null,true],"b":"x"}"#);
    let _ = outcome_and_text;
}
