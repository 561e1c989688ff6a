//! A turn as one statement, which is a transaction of its own and takes one round trip instead of two.
//!
//! None of its parts sees what the others do, so they touch different rows. When the first one, which checks the version, touches no
//! row, a division by zero rolls all of them back.

use std::fmt::Write as _;

use super::super::statement::{Statement, for_postgres};

/// The combined SQL; its values are those of the first statement, then those of the second, and so on.
pub(super) fn combined(statements: &[Statement]) -> String {
    let (mut parts, mut values) = (Vec::new(), 0);
    for (number, statement) in statements.iter().enumerate() {
        let sql = renumbered(&for_postgres(statement.sql), values);
        let returning = if number == 0 { " RETURNING 1" } else { "" };
        parts.push(format!("part{number} AS ({sql}{returning})"));
        values += statement.cells.len();
    }
    format!("WITH {} SELECT 1 / (SELECT count(*) FROM part0)", parts.join(", "))
}

/// The SQL with its parameters renumbered by an offset.
fn renumbered(sql: &str, offset: usize) -> String {
    let mut pieces = sql.split('$');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let number: usize = number.parse().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(text, "${}{rest}", number + offset);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::super::statement::Conflict;
    use super::*;

    #[test]
    fn values_follow_each_other_and_the_version_is_checked() {
        let first = Statement::new("UPDATE a SET b = $1 WHERE c = $2", [1.into(), 2.into()]).or(Conflict::Version);
        let second =
            Statement::new("INSERT INTO d VALUES ($1, $2), ($1, $3)/*postgres: x*/", [3.into(), 4.into(), 5.into()]);
        assert_eq!(
            combined(&[first, second]),
            "WITH part0 AS (UPDATE a SET b = $1 WHERE c = $2 RETURNING 1), \
             part1 AS (INSERT INTO d VALUES ($3, $4), ($3, $5) x) SELECT 1 / (SELECT count(*) FROM part0)"
        );
    }

    #[test]
    fn values_of_two_digits_keep_their_order() {
        assert_eq!(renumbered("f($1, $9, $10)::x$2", 3), "f($4, $12, $13)::x$5");
    }
}
