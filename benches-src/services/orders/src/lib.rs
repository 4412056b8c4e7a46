//! An order, and what the service does with it.

use serde::{Deserialize, Serialize};

/// What a customer wants to buy.
#[derive(Serialize, Deserialize)]
pub struct Order {
    number: u64,
    customer: String,
    placed: String,
    items: Vec<Item>,
    /// The sum of all items, in cents; 0 until it is computed.
    #[serde(default)]
    total_cents: u64,
}

#[derive(Serialize, Deserialize)]
struct Item {
    article: String,
    name: String,
    quantity: u32,
    price_cents: u64,
    weight: f64,
    tags: Vec<String>,
}

impl Order {
    /// The same with its total.
    pub fn added_up(mut self) -> Self {
        self.total_cents = self.items.iter().map(|item| u64::from(item.quantity) * item.price_cents).sum();
        self
    }
}

/// Reads an order, adds it up, and writes it.
pub fn answer(json: &[u8]) -> serde_json::Result<Vec<u8>> {
    let order: Order = serde_json::from_slice(json)?;
    serde_json::to_vec(&order.added_up())
}
