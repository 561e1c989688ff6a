//! The lists of a chunk, read item by item: an item takes far more memory than its JSON, so what is not used is not kept.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

/// More calls than `limits.reply_calls` can allow are not kept.
const MOST_ITEMS: usize = 100_000;

/// The first item of a list that is not null.
pub(super) struct First<T>(pub(super) Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FirstVisitor(PhantomData))
    }
}

struct FirstVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstVisitor<T> {
    type Value = First<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<First<T>, A::Error> {
        let mut first = None;
        while first.is_none() {
            match list.next_element::<Option<T>>()? {
                Some(item) => first = item,
                None => return Ok(First(None)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(First(first))
    }
}

/// The items of a list that are not null.
pub(super) struct Items<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor(PhantomData))
    }
}

struct ItemsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ItemsVisitor<T> {
    type Value = Items<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Items<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Option<T>>()? {
            if items.len() == MOST_ITEMS {
                return Err(A::Error::custom("one event has more tool calls than limits.reply_calls can allow"));
            }
            items.extend(item);
        }
        Ok(Items(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_item_is_read_and_the_others_are_not() {
        for (list, expected) in
            [("[]", None), ("[null, null]", None), ("[1, 2]", Some(1)), ("[null, 1, {}, [\"x\"]]", Some(1))]
        {
            let First(first) = serde_json::from_str::<First<u64>>(list).unwrap();
            assert_eq!(first, expected, "{list}");
        }
        for wrong in ["[{}]", "{}", "[1, 2"] {
            assert!(serde_json::from_str::<First<u64>>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn more_items_than_a_reply_may_have_are_refused_by_the_limits_name() {
        let list = |count: usize| format!("[null{}]", ",1".repeat(count));
        assert!(
            serde_json::from_str::<Items<u8>>(&list(MOST_ITEMS)).is_ok_and(|Items(items)| items.len() == MOST_ITEMS)
        );
        let error = serde_json::from_str::<Items<u8>>(&list(MOST_ITEMS + 1)).err().unwrap();
        assert!(error.to_string().contains("limits.reply_calls"), "{error}");
    }
}
