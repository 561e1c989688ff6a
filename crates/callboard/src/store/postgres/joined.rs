//! Several statements as one, which is a transaction of its own and takes one trip instead of two.
//!
//! None of them sees what the others do, so they must have nothing to do with each other's rows. One that touches no row where it
//! should have touched one fails by a division by zero, which undoes all of them; which one it was is not told.

use std::fmt::Write as _;

use super::super::statement::{Statement, for_postgres};

/// The text; values are those of the first statement, then those of the second, and so on.
pub(super) fn joined(statements: &[Statement]) -> String {
    let (mut parts, mut checks, mut values) = (Vec::new(), Vec::new(), 0);
    for (number, statement) in statements.iter().enumerate() {
        let sql = renumbered(&for_postgres(statement.sql), values);
        values += statement.cells.len();
        if statement.otherwise.is_some() {
            parts.push(format!("part{number} AS ({sql} RETURNING 1)"));
            checks.push(format!("1 / (SELECT count(*) FROM part{number})"));
        } else {
            parts.push(format!("part{number} AS ({sql})"));
        }
    }
    format!("WITH {} SELECT {}", parts.join(", "), checks.join(", "))
}

/// With values that stand behind so many others.
fn renumbered(sql: &str, behind: usize) -> String {
    let mut pieces = sql.split('$');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let number: usize = number.parse().unwrap_or_default();
        // Nothing keeps a text from growing.
        let _ = write!(text, "${}{rest}", number + behind);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::super::statement::Miss;
    use super::*;

    #[test]
    fn values_follow_each_other_and_what_must_hold_is_checked() {
        let first = Statement::new("UPDATE a SET b = $1 WHERE c = $2", [1.into(), 2.into()]).or(Miss::Version);
        let second =
            Statement::new("INSERT INTO d VALUES ($1, $2), ($1, $3)/*postgres: x*/", [3.into(), 4.into(), 5.into()]);
        assert_eq!(
            joined(&[first, second]),
            "WITH part0 AS (UPDATE a SET b = $1 WHERE c = $2 RETURNING 1), \
             part1 AS (INSERT INTO d VALUES ($3, $4), ($3, $5) x) SELECT 1 / (SELECT count(*) FROM part0)"
        );
    }

    #[test]
    fn values_of_two_digits_keep_their_order() {
        assert_eq!(renumbered("f($1, $9, $10)::x$2", 3), "f($4, $12, $13)::x$5");
    }
}
