use super::*;
#[test]
fn t() { 
 for k in ["Job","Agent","McpServer"] { let c = KindCheck::of_kind(k).unwrap(); println!("{k} {:?}", c.rules(&serde_json::json!({"metadata":{"name":"a.b"},"spec":{"agentRef":{"name":"A"},"url":"http://127.1/","headers":[{"name":"Host","value":"a"}],"tools":["x"],"output":{"sizeLimit":"0"},"script":"\u{1}","sources":[{"name":"out"}]}}), None)); }
}
