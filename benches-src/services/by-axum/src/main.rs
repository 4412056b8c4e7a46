//! The service, with axum on tokio.

use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use orders::Order;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // A connection that is lost already has no use for it.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route("/orders", post(answer))).await?;
    Ok(())
}

async fn answer(Json(order): Json<Order>) -> Json<Order> {
    Json(order.added_up())
}
