//! Rows of numbers as the protocol has them, `[[1, 2], [], [3]]`, kept in one piece: a large page has a hundred thousand.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

#[derive(Clone, Debug)]
pub struct NumberRows<T> {
    numbers: Vec<T>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl<T> Default for NumberRows<T> {
    fn default() -> Self {
        Self { numbers: Vec::new(), ends: Vec::new() }
    }
}

impl<T> NumberRows<T> {
    pub fn get(&self, row: usize) -> Option<&[T]> {
        let end = *self.ends.get(row)?;
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.numbers.get(start..end)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NumberRows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RowsVisitor(PhantomData))
    }
}

struct RowsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for RowsVisitor<T> {
    type Value = NumberRows<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("rows of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Self::Value, A::Error> {
        let mut read = NumberRows::default();
        while rows.next_element_seed(RowSeed(&mut read.numbers))?.is_some() {
            read.ends.push(read.numbers.len());
        }
        Ok(read)
    }
}

/// One row, added to those before it.
struct RowSeed<'a, T>(&'a mut Vec<T>);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for RowSeed<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for RowSeed<'_, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a row of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        while let Some(number) = numbers.next_element()? {
            self.0.push(number);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_are_written() {
        let rows: NumberRows<i64> = serde_json::from_str("[[1,2],[],[3]]").unwrap();
        let read: Vec<Option<&[i64]>> = (0..4).map(|row| rows.get(row)).collect();
        assert_eq!(read, [Some(&[1, 2][..]), Some(&[]), Some(&[3]), None]);
        for wrong in ["7", "[7]", "[[\"x\"]]"] {
            assert!(serde_json::from_str::<NumberRows<i64>>(wrong).is_err(), "{wrong}");
        }
    }
}
