//! Pages of item lists: cursor, limit and order.

use serde_json::{Value, json};

use crate::model::BadRequest;

const USUAL: usize = 20;
const MOST: usize = 100;

/// Which part of a list is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageQuery {
    /// The id after which the page begins.
    pub after: Option<String>,
    /// How many items at most, from 1 to 100.
    pub limit: usize,
    /// The newest first, which is the usual order.
    pub newest_first: bool,
}

impl Default for PageQuery {
    fn default() -> Self {
        Self { after: None, limit: USUAL, newest_first: true }
    }
}

impl PageQuery {
    /// Reads the pairs of a query string, already decoded; unknown pairs are ignored.
    pub fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, BadRequest> {
        let mut query = Self::default();
        for (key, value) in pairs {
            match (key, value) {
                ("after", id) => query.after = Some(id.to_owned()),
                ("limit", number) => query.limit = limit(number)?,
                ("order", "asc") => query.newest_first = false,
                ("order", "desc") => query.newest_first = true,
                ("order", other) => {
                    let message = format!("order is {other:?}; it must be \"asc\" or \"desc\"");
                    return Err(BadRequest::invalid("order", message));
                }
                _ => {}
            }
        }
        Ok(query)
    }

    /// The wanted part of all items, which are given oldest first.
    pub fn page(&self, items: &[Value]) -> Result<Value, BadRequest> {
        let mut ordered: Vec<&Value> = items.iter().collect();
        if self.newest_first {
            ordered.reverse();
        }
        let start = match &self.after {
            None => 0,
            Some(id) => self.place_behind(&ordered, id)?,
        };
        let rest = ordered.get(start..).unwrap_or_default();
        let page = rest.get(..self.limit).unwrap_or(rest);
        Ok(list(page, rest.len() > page.len()))
    }

    /// The wanted part of a list that begins after `after` in the wanted order, up to one item more than the limit.
    #[must_use]
    pub fn cut(&self, found: &[Value]) -> Value {
        let shown: Vec<&Value> = found.iter().take(self.limit).collect();
        list(&shown, found.len() > shown.len())
    }

    /// The refusal of an `after` that is not in the list.
    #[must_use]
    pub fn unknown_after(id: &str) -> BadRequest {
        BadRequest::at("after", "item_not_found", format!("after is {id:?}, which is no item of this list"))
    }

    fn place_behind(&self, ordered: &[&Value], id: &str) -> Result<usize, BadRequest> {
        let place = ordered.iter().position(|item| id_of(item) == id);
        place.map(|place| place + 1).ok_or_else(|| Self::unknown_after(id))
    }
}

/// All of these items as one list.
#[must_use]
pub fn whole_list(items: &[Value]) -> Value {
    list(&items.iter().collect::<Vec<_>>(), false)
}

/// Clients want a text for both ids, also where the list is empty.
fn list(page: &[&Value], has_more: bool) -> Value {
    let id = |item: Option<&&Value>| item.map(|item| id_of(item)).unwrap_or_default().to_owned();
    json!({
        "object": "list", "data": page, "first_id": id(page.first()), "last_id": id(page.last()), "has_more": has_more
    })
}

fn id_of(item: &Value) -> &str {
    item.get("id").and_then(Value::as_str).unwrap_or_default()
}

fn limit(text: &str) -> Result<usize, BadRequest> {
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| {
        BadRequest::invalid("limit", format!("limit is {text:?}; it must be a whole number from 1 to {MOST}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items() -> Vec<Value> {
        ["a", "b", "c", "d"].iter().map(|id| json!({"id": id})).collect()
    }

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn pages_follow_each_other() {
        let table: [(Pairs<'_>, &str, bool); 7] = [
            (&[], "dcba", false),
            (&[("order", "asc")], "abcd", false),
            (&[("order", "asc"), ("limit", "2")], "ab", true),
            (&[("order", "asc"), ("limit", "2"), ("after", "b"), ("include", "x")], "cd", false),
            (&[("order", "asc"), ("limit", "1"), ("after", "b")], "c", true),
            (&[("order", "desc"), ("limit", "2"), ("after", "c")], "ba", false),
            (&[("after", "a")], "", false),
        ];
        for (pairs, ids, has_more) in table {
            let page = PageQuery::read(pairs.iter().copied()).unwrap().page(&items()).unwrap();
            let data = page.get("data").and_then(Value::as_array).unwrap();
            assert_eq!(data.iter().map(id_of).collect::<String>(), ids, "{pairs:?}");
            let ends = (ids.chars().next().map(String::from), ids.chars().last().map(String::from));
            let (first, last) = (ends.0.unwrap_or_default(), ends.1.unwrap_or_default());
            assert_eq!((page.get("first_id"), page.get("last_id")), (Some(&first.into()), Some(&last.into())));
            assert_eq!(page.get("has_more"), Some(&has_more.into()), "{pairs:?}");
        }
    }

    #[test]
    fn faults_name_their_place() {
        let table = [("limit", "0"), ("limit", "101"), ("limit", "x"), ("order", "up"), ("after", "z")];
        for (key, value) in table {
            let result = PageQuery::read([(key, value)]).and_then(|query| query.page(&items()));
            assert_eq!(result.unwrap_err().param.as_deref(), Some(key), "{value}");
        }
    }
}
