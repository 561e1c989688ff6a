//! stub
#![expect(missing_docs, reason = "x")]
pub enum Piece {
    Text(String),
    Reasoning(String),
    Call(TextCall),
}
pub struct TextCall {
    pub name: String,
    pub arguments: String,
}
pub struct TextReader;
pub enum End {
    Complete,
    CutByLimit,
    CallsBeside,
}
impl TextReader {
    pub fn new(_: &[&str]) -> Self {
        Self
    }
    pub fn feed(&mut self, t: &str, out: &mut Vec<Piece>) {
        out.push(Piece::Text(t.to_owned()))
    }
    pub fn finish(&mut self, _: End, _: &mut Vec<Piece>) {}
}
