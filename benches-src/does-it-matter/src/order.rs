//! An order as JSON, and the small piece of work that a service does with it.

use clap::Args;
use serde::{Deserialize, Serialize};

/// What a customer wants to buy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Its number.
    pub number: u64,
    /// Who ordered.
    pub customer: String,
    /// When, as text.
    pub placed: String,
    /// What.
    pub items: Vec<Item>,
    /// The sum of all items, in cents; 0 until a service has computed it.
    #[serde(default)]
    pub total_cents: u64,
}

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The article's number.
    pub article: String,
    /// Its name, with a quotation mark that JSON has to escape.
    pub name: String,
    /// How many.
    pub quantity: u32,
    /// What one costs.
    pub price_cents: u64,
    /// Its weight in kilograms.
    pub weight: f64,
    /// A few words.
    pub tags: Vec<String>,
}

/// How long an order is.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Bytes {
    /// Bytes of the JSON, or a few more: an order has whole items
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub bytes: u64,
}

impl Order {
    /// An order of as many items as it takes to be of `bytes` bytes as JSON, or a few more; always the same for the same number.
    pub fn of_bytes(number: u64, bytes: usize) -> Self {
        let mut order = Self {
            number,
            customer: "Ada Lovelace, 12 St James's Square, London".to_owned(),
            placed: "1843-09-05T10:15:30Z".to_owned(),
            items: Vec::new(),
            total_cents: 0,
        };
        while order.items.is_empty() || order.to_json().len() < bytes {
            order.items.push(Item::nth(order.items.len() as u64));
        }
        order
    }

    /// Reads it.
    pub fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }

    /// Writes it.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an order has nothing that JSON cannot say")
    }

    /// The small transformation: computes the total.
    pub fn add_up(&mut self) {
        self.total_cents = self.items.iter().map(|item| u64::from(item.quantity) * item.price_cents).sum();
    }
}

impl Item {
    fn nth(index: u64) -> Self {
        Self {
            article: format!("AE-{:06}", index * 7919 % 1_000_000),
            name: format!("Gear wheel no. {index}, 3/8\""),
            quantity: (index % 12 + 1) as u32,
            price_cents: 199 + index * 50,
            weight: 0.125 * (index % 40) as f64 + 0.0625,
            tags: vec!["brass".to_owned(), "machined".to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_as_long_as_asked_and_comes_back_whole() {
        for bytes in [500, 5_000, 50_000] {
            let order = Order::of_bytes(7, bytes);
            let json = order.to_json();
            assert!((bytes..bytes + bytes / 2).contains(&json.len()), "{} bytes for {bytes}", json.len());
            assert_eq!(Order::from_json(&json).unwrap(), order);
        }
    }

    #[test]
    fn the_total_is_the_sum_of_what_the_items_cost() {
        let mut order = Order::of_bytes(1, 0);
        order.items.push(Item::nth(1));
        order.add_up();
        assert_eq!(order.total_cents, 199 + 2 * 249);
    }
}
